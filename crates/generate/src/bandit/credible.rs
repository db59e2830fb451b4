//! What a posterior says: the interval in which a probability of success lies most likely.

/// The probability below which a beta variate with these positive parameters stays with probability `share`.
pub fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // The distribution function grows: each step halves the interval.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if incomplete_beta(a, b, middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges quickly below the mean only; the other side is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() + log_gamma(a + b) - log_gamma(a) - log_gamma(b)).exp() / a;
    // Lentz's method.
    const TINY: f64 = 1e-300;
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    for step in 0..500 {
        let m = f64::from(step / 2);
        let numerator = match step {
            0 => 1.0,
            _ if step % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 / guarded(1.0 + numerator * d, TINY);
        c = guarded(1.0 + numerator / c, TINY);
        let factor = c * d;
        fraction *= factor;
        if step > 0 && (factor - 1.0).abs() < 1e-12 {
            break;
        }
    }
    front * (fraction - 1.0)
}

fn guarded(x: f64, least: f64) -> f64 {
    if x.abs() < least { least } else { x }
}

/// The logarithm of the gamma function at a positive number, by Lanczos' approximation.
fn log_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.120_865_097_386_617_9e-2,
        -0.539_523_938_495_3e-5,
    ];
    let base = x + 5.5;
    let series: f64 =
        COEFFICIENTS.iter().zip(1..).map(|(coefficient, n)| coefficient / (x + f64::from(n))).sum();
    (x + 0.5) * base.ln() - base + (2.506_628_274_631_000_5 * (1.000_000_000_190_015 + series) / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_distributions_are_right() {
        // Uniform; the cube of a uniform variate's root; the values of tables for two others.
        for share in [0.05, 0.5, 0.95] {
            assert!((beta_quantile(1.0, 1.0, share) - share).abs() < 1e-6);
            assert!((beta_quantile(3.0, 1.0, share) - share.cbrt()).abs() < 1e-6);
            assert!((beta_quantile(1.0, 2.0, share) - (1.0 - (1.0 - share).sqrt())).abs() < 1e-6);
        }
        assert!((beta_quantile(2.0, 2.0, 0.5) - 0.5).abs() < 1e-6);
        assert!(
            (beta_quantile(10.0, 30.0, 0.975) - 0.3934).abs() < 2e-3,
            "{}",
            beta_quantile(10.0, 30.0, 0.975)
        );
    }

    #[test]
    fn intervals_shrink_with_what_is_known() {
        let width = |n: f64| beta_quantile(1.0 + n, 1.0 + n, 0.975) - beta_quantile(1.0 + n, 1.0 + n, 0.025);
        assert!(width(0.0) > width(5.0) && width(5.0) > width(500.0));
        assert!(width(500.0) > 0.0);
    }
}
