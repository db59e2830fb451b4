//! The rank-sum test of Mann and Whitney: do two samples come from the same distribution?

/// The two-sided p-value by the normal approximation, with corrections for ties and continuity. 1 where nothing can be said.
pub fn p_value(first: &[f64], second: &[f64]) -> f64 {
    let (n, m) = (first.len() as f64, second.len() as f64);
    if first.is_empty() || second.is_empty() {
        return 1.0;
    }
    let mut all: Vec<(f64, bool)> = first.iter().map(|value| (*value, true)).collect();
    all.extend(second.iter().map(|value| (*value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut ranks, mut ties, mut place) = (0.0, 0.0, 0);
    while place < all.len() {
        let equal = all[place..].iter().take_while(|(value, _)| *value == all[place].0).count();
        let rank = place as f64 + (equal as f64 + 1.0) / 2.0;
        ranks += rank * all[place..place + equal].iter().filter(|(_, own)| *own).count() as f64;
        ties += (equal as f64).powi(3) - equal as f64;
        place += equal;
    }
    let u = ranks - n * (n + 1.0) / 2.0;
    let count = n + m;
    let variance = n * m / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)).max(1.0));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    error_complement(distance / variance.sqrt() / std::f64::consts::SQRT_2).clamp(0.0, 1.0)
}

/// `erfc` for arguments from 0 up, to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
fn error_complement(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let coefficients = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = coefficients.iter().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    polynomial * (-x * x).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-5, "{value}, expected {expected}");
    }

    #[test]
    fn p_values_are_those_of_other_programs() {
        // scipy.stats.mannwhitneyu(x, y, method='asymptotic').pvalue; the second is the example of its manual.
        near(p_value(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 0.012_185_78);
        near(p_value(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0]), 0.111_346_9);
        near(p_value(&[1.0, 1.0, 2.0, 3.0], &[2.0, 3.0, 3.0, 4.0]), 0.134_169_2);
    }

    #[test]
    fn equal_samples_and_empty_ones_show_nothing() {
        assert_eq!(p_value(&[2.0; 20], &[2.0; 20]), 1.0);
        assert_eq!(p_value(&[], &[1.0]), 1.0);
        let mixed: Vec<f64> = (0..20).map(f64::from).collect();
        near(p_value(&mixed, &mixed), 1.0);
    }

    #[test]
    fn a_shift_of_twenty_runs_is_seen_and_noise_is_not() {
        let base: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i * 7 % 20)).collect();
        let shifted: Vec<f64> = base.iter().map(|value| value + 15.0).collect();
        let moved: Vec<f64> = base.iter().map(|value| value + 1.0).collect();
        assert!(p_value(&base, &shifted) < 0.01 && p_value(&base, &moved) > 0.01);
    }
}
