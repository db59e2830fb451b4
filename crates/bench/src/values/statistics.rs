//! Means, deviations, and Welch's t-test.

/// Mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    pub count: usize,
    pub mean: f64,
    pub deviation: f64,
}

impl Sample {
    pub fn of(values: &[f64]) -> Sample {
        let count = values.len();
        if count == 0 {
            return Sample::default();
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Sample { count, mean, deviation }
    }

    /// The probability of a difference in means at least as large if there were none: Welch's t-test, two-sided. `None`
    /// where it cannot be told: fewer than two values, or no deviation at all.
    pub fn welch(&self, other: &Sample) -> Option<f64> {
        if self.count < 2 || other.count < 2 {
            return None;
        }
        let error = |sample: &Sample| sample.deviation.powi(2) / sample.count as f64;
        let (one, two) = (error(self), error(other));
        if one + two == 0.0 {
            return None;
        }
        let t = (self.mean - other.mean) / (one + two).sqrt();
        let freedom = (one + two).powi(2)
            / (one.powi(2) / (self.count - 1) as f64 + two.powi(2) / (other.count - 1) as f64);
        Some(beta(freedom / (freedom + t * t), freedom / 2.0, 0.5))
    }
}

/// The regularised incomplete beta function, by Lentz's continued fraction.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = 1e-300;
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..200 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d, tiny);
            c = nonzero(1.0 + term / c, tiny);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front * fraction
}

fn nonzero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// Stirling's series, after raising small arguments.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_deviation_divides_by_one_less() {
        let sample = Sample::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(sample.mean, 5.0);
        assert!((sample.deviation - 2.138_089_935_299_395).abs() < 1e-12);
        assert_eq!(Sample::of(&[]), Sample::default());
    }

    #[test]
    fn welchs_test_agrees_with_known_values() {
        let one = Sample::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let two = Sample::of(&[2.0, 4.0, 6.0, 8.0, 10.0]);
        // t = -3 / sqrt(2.5), with 5.882 degrees of freedom.
        let p = one.welch(&two).expect("two samples with deviations");
        assert!((p - 0.107_531).abs() < 1e-4, "{p}");
        assert!((one.welch(&one).expect("the same") - 1.0).abs() < 1e-9);
        assert_eq!(one.welch(&Sample::of(&[1.0])), None);
        let constant = Sample::of(&[1.0, 1.0]);
        assert_eq!(constant.welch(&constant), None);
    }
}
