//! The parameters of a floating-point sort, and the rounding modes.

use std::fmt;

use thiserror::Error;

/// Widths of the exponent (`eb`) and of the significand including the hidden
/// bit (`sb`). All derived constants follow from these two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Format {
    eb: u32,
    sb: u32,
}

/// Why a pair `(eb, sb)` is not a format this crate computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    #[error("(_ FloatingPoint {eb} {sb}): the standard requires both widths to be greater than one")]
    TooNarrow { eb: u32, sb: u32 },
    #[error(
        "(_ FloatingPoint {eb} {sb}): exponents are supported up to {max_eb} bits, significands up to {max_sb}",
        max_eb = Format::MAX_EXPONENT_BITS,
        max_sb = Format::MAX_SIGNIFICAND_BITS
    )]
    TooWide { eb: u32, sb: u32 },
}

impl Format {
    /// Exponents are kept in `i64`; the slack lets sums of three of them, as
    /// in a fused multiply-add, stay in range without checks.
    pub const MAX_EXPONENT_BITS: u32 = 60;
    /// A bound against absurd sorts, far above anything a solver handles.
    pub const MAX_SIGNIFICAND_BITS: u32 = 1 << 24;
    /// Up to this precision quotients and square roots, which need `2 sb + 5`
    /// bits, are computed in `u128`.
    pub const FAST_PRECISION: u32 = 60;

    pub const FLOAT16: Format = Format { eb: 5, sb: 11 };
    pub const FLOAT32: Format = Format { eb: 8, sb: 24 };
    pub const FLOAT64: Format = Format { eb: 11, sb: 53 };
    pub const FLOAT128: Format = Format { eb: 15, sb: 113 };

    pub fn new(eb: u32, sb: u32) -> Result<Format, FormatError> {
        if eb < 2 || sb < 2 {
            return Err(FormatError::TooNarrow { eb, sb });
        }
        if eb > Self::MAX_EXPONENT_BITS || sb > Self::MAX_SIGNIFICAND_BITS {
            return Err(FormatError::TooWide { eb, sb });
        }
        Ok(Format { eb, sb })
    }

    pub fn eb(self) -> u32 {
        self.eb
    }

    pub fn sb(self) -> u32 {
        self.sb
    }

    /// Width of the IEEE interchange encoding.
    pub fn width(self) -> u32 {
        self.eb + self.sb
    }

    /// Exponent of the leading bit of the largest finite value; also the bias.
    pub fn emax(self) -> i64 {
        (1 << (self.eb - 1)) - 1
    }

    /// Exponent of the leading bit of the smallest normal value.
    pub fn emin(self) -> i64 {
        1 - self.emax()
    }

    /// Exponent of the last significand bit of subnormal (and the smallest
    /// normal) values.
    pub fn quantum_min(self) -> i64 {
        self.emin() - i64::from(self.sb - 1)
    }

    /// Exponent of the last significand bit of the largest finite values.
    pub fn quantum_max(self) -> i64 {
        self.emax() - i64::from(self.sb - 1)
    }

    pub(super) fn is_fast(self) -> bool {
        self.sb <= Self::FAST_PRECISION
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(_ FloatingPoint {} {})", self.eb, self.sb)
    }
}

/// The five rounding modes of IEEE 754-2008, under their SMT-LIB names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RoundingMode {
    /// roundNearestTiesToEven
    Rne,
    /// roundNearestTiesToAway
    Rna,
    /// roundTowardPositive
    Rtp,
    /// roundTowardNegative
    Rtn,
    /// roundTowardZero
    Rtz,
}

impl RoundingMode {
    pub const ALL: [RoundingMode; 5] = [Self::Rne, Self::Rna, Self::Rtp, Self::Rtn, Self::Rtz];

    /// Reads either the short or the long name of the standard.
    pub fn from_symbol(symbol: &str) -> Option<RoundingMode> {
        Some(match symbol {
            "RNE" | "roundNearestTiesToEven" => Self::Rne,
            "RNA" | "roundNearestTiesToAway" => Self::Rna,
            "RTP" | "roundTowardPositive" => Self::Rtp,
            "RTN" | "roundTowardNegative" => Self::Rtn,
            "RTZ" | "roundTowardZero" => Self::Rtz,
            _ => return None,
        })
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Self::Rne => "RNE",
            Self::Rna => "RNA",
            Self::Rtp => "RTP",
            Self::Rtn => "RTN",
            Self::Rtz => "RTZ",
        }
    }

    /// Whether a magnitude between two neighbours goes to the larger one:
    /// `half` is the first dropped bit, `rest` whether any later one is set,
    /// `odd` the last kept bit.
    pub(super) fn rounds_away(self, negative: bool, odd: bool, half: bool, rest: bool) -> bool {
        match self {
            Self::Rne => half && (rest || odd),
            Self::Rna => half,
            Self::Rtp => !negative && (half || rest),
            Self::Rtn => negative && (half || rest),
            Self::Rtz => false,
        }
    }

    /// Whether a result beyond the largest finite value becomes infinite
    /// (IEEE 754-2008, 7.4).
    pub(super) fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Self::Rne | Self::Rna => true,
            Self::Rtp => !negative,
            Self::Rtn => negative,
            Self::Rtz => false,
        }
    }
}
