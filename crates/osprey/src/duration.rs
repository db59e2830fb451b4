//! Times on the command line.

use std::time::Duration;

/// `60`, `60s`, `1.5s`, `500ms`, `5m`, `1h`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let expected = || format!("'{text}' is no time; expected for example 60, 60s, 5m or 1h");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(expected()),
    };
    let number: f64 = digits.parse().map_err(|_| expected())?;
    match Duration::try_from_secs_f64(number * unit) {
        Ok(time) if time > Duration::ZERO => Ok(time),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_unit() {
        let seconds = |text| parse(text).map(|time| time.as_secs_f64());
        assert_eq!(seconds("60"), Ok(60.0));
        assert_eq!(seconds("60s"), Ok(60.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(seconds("5m"), Ok(300.0));
        assert_eq!(seconds("1h"), Ok(3600.0));
        for text in ["", "x", "-1", "0", "5 parsecs", "1e400"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
