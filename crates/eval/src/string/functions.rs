//! The functions of UnicodeStrings, and those solvers add.
//!
//! Results of sort Int come as [`Integer`], with the standard's -1 for "none".

use crate::bv::BitVector;
use crate::integer::Integer;
use crate::sequence::{self, TooLong, position};

use super::{MAX_CHAR, Str};

/// The standard's integer for an optional position.
fn or_minus_one(index: Option<usize>) -> Integer {
    index.map_or(Integer::from(-1_i64), Integer::from)
}

impl Str {
    pub fn length(&self) -> Integer {
        Integer::from(self.len())
    }

    pub fn concat(parts: &[&Str]) -> Result<Str, TooLong> {
        let slices: Vec<&[u32]> = parts.iter().map(|part| part.chars()).collect();
        sequence::concat(&slices).map(|chars| Str::from_chars(&chars))
    }

    pub fn at(&self, index: &Integer) -> Str {
        Str::from_chars(sequence::at(self.chars(), position(index)))
    }

    pub fn substr(&self, start: &Integer, count: &Integer) -> Str {
        Str::from_chars(sequence::extract(self.chars(), position(start), position(count)))
    }

    /// `(str.prefixof self of)`: note the order of arguments.
    pub fn is_prefix_of(&self, of: &Str) -> bool {
        sequence::has_prefix(of.chars(), self.chars())
    }

    /// `(str.suffixof self of)`: note the order of arguments.
    pub fn is_suffix_of(&self, of: &Str) -> bool {
        sequence::has_suffix(of.chars(), self.chars())
    }

    pub fn contains(&self, part: &Str) -> bool {
        sequence::contains(self.chars(), part.chars())
    }

    pub fn index_of(&self, part: &Str, from: &Integer) -> Integer {
        or_minus_one(sequence::index_of(self.chars(), part.chars(), position(from)))
    }

    pub fn last_index_of(&self, part: &Str) -> Integer {
        or_minus_one(sequence::last_index_of(self.chars(), part.chars()))
    }

    pub fn replace(&self, part: &Str, by: &Str) -> Result<Str, TooLong> {
        sequence::replace(self.chars(), part.chars(), by.chars()).map(|chars| Str::from_chars(&chars))
    }

    pub fn replace_all(&self, part: &Str, by: &Str) -> Result<Str, TooLong> {
        sequence::replace_all(self.chars(), part.chars(), by.chars()).map(|chars| Str::from_chars(&chars))
    }

    pub fn update(&self, index: &Integer, by: &Str) -> Str {
        Str::from_chars(&sequence::update(self.chars(), position(index), by.chars()))
    }

    pub fn reverse(&self) -> Str {
        Str::gather(self.chars().iter().rev().copied())
    }

    /// `str.to_lower`: only A to Z change.
    pub fn to_lower(&self) -> Str {
        self.map_range(b'A', b'Z', 32)
    }

    /// `str.to_upper`: only a to z change.
    pub fn to_upper(&self) -> Str {
        self.map_range(b'a', b'z', -32)
    }

    fn map_range(&self, first: u8, last: u8, distance: i32) -> Str {
        let range = u32::from(first)..=u32::from(last);
        Str::gather(
            self.chars()
                .iter()
                .map(|&char| if range.contains(&char) { char.wrapping_add_signed(distance) } else { char }),
        )
    }

    pub fn is_digit(&self) -> bool {
        matches!(self.chars(), [char] if is_decimal(*char))
    }

    /// The code of the only character, or -1.
    pub fn to_code(&self) -> Integer {
        match self.chars() {
            [char] => Integer::from(i64::from(*char)),
            _ => Integer::from(-1_i64),
        }
    }

    /// The string of that one character; empty if there is none.
    pub fn from_code(code: &Integer) -> Str {
        match code.to_u64() {
            Some(code) if code <= u64::from(MAX_CHAR) => Str::from_chars(&[code as u32]),
            _ => Str::EMPTY,
        }
    }

    /// The number written in decimal, leading zeros allowed; -1 if the string
    /// is empty or has a character that is not a decimal digit.
    pub fn to_int(&self) -> Integer {
        let none = Integer::from(-1_i64);
        if self.is_empty() || !self.chars().iter().all(|&char| is_decimal(char)) {
            return none;
        }
        if self.len() <= 18 {
            let value =
                self.chars().iter().fold(0, |value, &char| value * 10 + i64::from(char - u32::from(b'0')));
            return Integer::from(value);
        }
        let text: String = self.chars().iter().filter_map(|&char| char::from_u32(char)).collect();
        text.parse().unwrap_or(none)
    }

    /// Decimal without leading zeros; empty for negative numbers.
    pub fn from_int(value: &Integer) -> Str {
        if value.is_negative() { Str::EMPTY } else { Str::from_ascii(&value.to_string()) }
    }

    /// Z3's `str.from_ubv`.
    pub fn from_ubv(bits: &BitVector) -> Str {
        Str::from_int(&bits.to_unsigned())
    }

    /// Z3's `str.from_sbv`: negative numbers keep their minus sign.
    pub fn from_sbv(bits: &BitVector) -> Str {
        Str::from_ascii(&bits.to_signed().to_string())
    }
}

fn is_decimal(char: u32) -> bool {
    (u32::from(b'0')..=u32::from(b'9')).contains(&char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Str {
        Str::try_from(text).unwrap()
    }

    fn int(value: i64) -> Integer {
        Integer::from(value)
    }

    #[test]
    fn integers_and_strings_convert_as_the_standard_says() {
        for (text, value) in [("", -1), ("-1", -1), ("0", 0), ("007", 7), ("12a", -1), (" 1", -1), ("+1", -1)]
        {
            assert_eq!(s(text).to_int(), int(value), "{text}");
        }
        let long = "00000000000000000000123456789012345678901234567890";
        assert_eq!(s(long).to_int().to_string(), "123456789012345678901234567890");
        // A digit of another script is not a decimal digit of the theory.
        assert_eq!(s("\u{663}").to_int(), int(-1));
        assert!(!s("\u{663}").is_digit());
        assert_eq!(Str::from_int(&int(-5)), Str::EMPTY);
        assert_eq!(Str::from_int(&int(0)), s("0"));
        assert_eq!(Str::from_int(&int(1234567890123)), s("1234567890123"));
        assert_eq!(Str::from_sbv(&BitVector::new(4, 0b1011)), s("-5"));
        assert_eq!(Str::from_ubv(&BitVector::new(4, 0b1011)), s("11"));
    }

    #[test]
    fn codes_exist_exactly_for_single_characters() {
        assert_eq!(s("a").to_code(), int(97));
        assert_eq!(s("").to_code(), int(-1));
        assert_eq!(s("ab").to_code(), int(-1));
        assert_eq!(Str::from_code(&int(-1)), Str::EMPTY);
        assert_eq!(Str::from_code(&int(0x30000)), Str::EMPTY);
        assert_eq!(Str::from_code(&int(0x2FFFF)).to_code(), int(0x2FFFF));
        assert_eq!(Str::from_code(&int(0xD800)).len(), 1);
    }

    #[test]
    fn order_is_lexicographic_by_code_point_not_by_encoding() {
        // In UTF-16 the second would come first.
        assert!(s("\u{ffff}") < s("\u{10000}"));
        assert!(s("") < s("a"));
        assert!(s("a") < s("aa"));
        assert!(s("aa") < s("b"));
        assert!(s("Z") < s("a"));
    }

    #[test]
    fn case_changes_touch_ascii_letters_only() {
        assert_eq!(s("aZ[`{é9").to_upper(), s("AZ[`{é9"));
        assert_eq!(s("aZ[@zÉ9").to_lower(), s("az[@zÉ9"));
    }

    #[test]
    fn positions_of_any_size_are_accepted() {
        let huge: Integer = "100000000000000000000000000".parse().unwrap();
        assert_eq!(s("abc").substr(&int(1), &huge), s("bc"));
        assert_eq!(s("abc").substr(&huge, &huge), Str::EMPTY);
        assert_eq!(s("abc").at(&-&huge), Str::EMPTY);
        assert_eq!(s("abc").index_of(&Str::EMPTY, &huge), int(-1));
        assert_eq!(s("abc").index_of(&Str::EMPTY, &int(3)), int(3));
        assert_eq!(s("abc").index_of(&Str::EMPTY, &int(4)), int(-1));
        assert_eq!(s("abc").index_of(&s("c"), &int(-1)), int(-1));
        assert_eq!(Str::EMPTY.index_of(&Str::EMPTY, &int(0)), int(0));
    }

    #[test]
    fn short_and_long_strings_with_the_same_characters_are_equal() {
        let long = s("abcdefghij");
        assert_eq!(long.substr(&int(0), &int(7)), s("abcdefg"));
        assert_eq!(Str::concat(&[&s("abcde"), &s("fghij")]), Ok(long.clone()));
        assert_eq!(long.reverse().reverse(), long);
        assert_eq!(s("abc").replace(&Str::EMPTY, &s("x")), Ok(s("xabc")));
        assert_eq!(s("abab").replace_all(&s("b"), &s("")), Ok(s("aa")));
        assert!(s("ab").is_prefix_of(&long) && s("ij").is_suffix_of(&long));
        assert!(!long.is_prefix_of(&s("ab")) && long.contains(&s("def")));
    }
}
