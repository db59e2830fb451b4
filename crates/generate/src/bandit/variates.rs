//! Random numbers with the distributions that posteriors have.

use crate::Rng;

/// A standard normal variate, by Box and Muller's method.
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * open_unit(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A gamma variate with this positive shape and scale 1, by Marsaglia and Tsang's method (2000).
pub fn gamma(rng: &mut Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        // Their section 6: the method needs a shape of at least 1.
        let boosted = gamma(rng, shape + 1.0);
        return boosted * open_unit(rng).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        let u = open_unit(rng);
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A beta variate with these positive parameters: the share of one gamma variate in the sum of two.
pub fn beta(rng: &mut Rng, a: f64, b: f64) -> f64 {
    let (x, y) = (gamma(rng, a), gamma(rng, b));
    // Both can vanish only for tiny parameters, where the mass is at the two ends.
    if x + y > 0.0 { x / (x + y) } else { f64::from(u8::from(rng.chance(a / (a + b)))) }
}

/// A number in (0, 1], whose logarithm is finite.
fn open_unit(rng: &mut Rng) -> f64 {
    1.0 - rng.unit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    const DRAWS: usize = 20_000;

    fn mean_and_variance(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        (mean, variance)
    }

    #[test]
    fn normal_variates_have_mean_0_and_variance_1() {
        let mut rng = rng::stream(3, 0);
        let (mean, variance) = mean_and_variance(|| normal(&mut rng));
        assert!(mean.abs() < 0.03, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }

    #[test]
    fn gamma_variates_have_the_mean_and_variance_of_their_shape() {
        let mut rng = rng::stream(3, 1);
        for shape in [0.2, 1.0, 4.0, 50.0] {
            let (mean, variance) = mean_and_variance(|| gamma(&mut rng, shape));
            assert!((mean / shape - 1.0).abs() < 0.05, "{shape}: mean {mean}");
            assert!((variance / shape - 1.0).abs() < 0.1, "{shape}: variance {variance}");
        }
    }

    #[test]
    fn beta_variates_have_the_mean_and_variance_of_their_parameters() {
        let mut rng = rng::stream(3, 2);
        for (a, b) in [(1.0, 1.0), (0.5, 0.5), (2.0, 8.0), (300.0, 100.0)] {
            let (mean, variance) = mean_and_variance(|| beta(&mut rng, a, b));
            let true_variance = a * b / ((a + b) * (a + b) * (a + b + 1.0));
            assert!((mean * (a + b) / a - 1.0).abs() < 0.05, "{a} {b}: mean {mean}");
            assert!((variance / true_variance - 1.0).abs() < 0.1, "{a} {b}: variance {variance}");
        }
    }

    #[test]
    fn beta_variates_of_tiny_parameters_are_numbers_between_0_and_1() {
        let mut rng = rng::stream(3, 3);
        for _ in 0..1_000 {
            let share = beta(&mut rng, 1e-9, 1e-9);
            assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }
}
