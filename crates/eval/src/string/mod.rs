//! Strings as SMT-LIB's UnicodeStrings theory has them: finite sequences of
//! the code points 0 to 0x2FFFF, surrogates included.

mod escape;
mod functions;

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use escape::{Escapes, LiteralError};

/// The largest character of the theory.
pub const MAX_CHAR: u32 = 0x2FFFF;

/// Strings up to this length live inside the value, without an allocation.
const INLINE: usize = 7;

/// A string value. Cloning is cheap at any length.
#[derive(Clone)]
pub struct Str(Repr);

#[derive(Clone)]
enum Repr {
    Inline { length: u8, chars: [u32; INLINE] },
    Shared(Arc<[u32]>),
}

impl Str {
    pub const EMPTY: Str = Str(Repr::Inline { length: 0, chars: [0; INLINE] });

    /// `None` if a code point is not a character of the theory.
    pub fn new(chars: &[u32]) -> Option<Str> {
        chars.iter().all(|&char| char <= MAX_CHAR).then(|| Str::from_chars(chars))
    }

    /// The characters must be in range, as those of other strings are.
    pub(crate) fn from_chars(chars: &[u32]) -> Str {
        debug_assert!(chars.iter().all(|&char| char <= MAX_CHAR));
        if chars.len() <= INLINE {
            let mut inline = [0; INLINE];
            inline[..chars.len()].copy_from_slice(chars);
            Str(Repr::Inline { length: chars.len() as u8, chars: inline })
        } else {
            Str(Repr::Shared(chars.into()))
        }
    }

    /// Like [`Str::from_chars`], without building a vector for short strings.
    pub(crate) fn gather(chars: impl IntoIterator<Item = u32>) -> Str {
        let mut chars = chars.into_iter();
        let mut inline = [0; INLINE];
        let mut length = 0;
        while let Some(char) = chars.next() {
            if length == INLINE {
                let mut long = inline.to_vec();
                long.push(char);
                long.extend(chars);
                return Str::from_chars(&long);
            }
            inline[length] = char;
            length += 1;
        }
        Str::from_chars(&inline[..length])
    }

    pub(crate) fn from_ascii(text: &str) -> Str {
        debug_assert!(text.is_ascii());
        Str::gather(text.bytes().map(u32::from))
    }

    pub fn chars(&self) -> &[u32] {
        match &self.0 {
            Repr::Inline { length, chars } => &chars[..usize::from(*length)],
            Repr::Shared(chars) => chars,
        }
    }

    pub fn len(&self) -> usize {
        self.chars().len()
    }

    pub fn is_empty(&self) -> bool {
        self.chars().is_empty()
    }
}

/// The code points of a Rust string, with nothing treated as an escape.
impl TryFrom<&str> for Str {
    type Error = LiteralError;

    fn try_from(text: &str) -> Result<Str, LiteralError> {
        match text.chars().find(|&char| u32::from(char) > MAX_CHAR) {
            Some(char) => Err(LiteralError::OutsideAlphabet { code: char.into() }),
            None => Ok(Str::gather(text.chars().map(u32::from))),
        }
    }
}

impl Default for Str {
    fn default() -> Str {
        Str::EMPTY
    }
}

impl Borrow<[u32]> for Str {
    fn borrow(&self) -> &[u32] {
        self.chars()
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Str) -> bool {
        self.chars() == other.chars()
    }
}

impl Eq for Str {}

impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.chars().hash(state);
    }
}

/// `str.<`: lexicographic by code point, which is the order of slices.
impl Ord for Str {
    fn cmp(&self, other: &Str) -> Ordering {
        self.chars().cmp(other.chars())
    }
}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Str) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_literal())
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_literal())
    }
}
