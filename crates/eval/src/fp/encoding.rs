//! The IEEE interchange encoding: sign, biased exponent, trailing significand.

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use super::format::Format;
use super::value::{Float, Repr, Significand};

impl Float {
    /// The constructor `(fp sign exponent trailing)` on the values of its
    /// three bit-vectors. Every pattern with an all-ones exponent and a
    /// nonzero trailing significand is the one NaN.
    ///
    /// Bits beyond the widths of the format are ignored.
    pub fn from_fields(format: Format, negative: bool, exponent: u64, trailing: UBig) -> Float {
        let hidden = format.sb() as usize - 1;
        let mut trailing = trailing;
        trailing.clear_high_bits(hidden);
        let biased = (exponent & ((1 << format.eb()) - 1)) as i64;
        if biased == (1 << format.eb()) - 1 {
            return if trailing.is_zero() { Float::infinity(format, negative) } else { Float::nan(format) };
        }
        if biased == 0 {
            if trailing.is_zero() {
                return Float::zero(format, negative);
            }
            let significand = Significand::from_ubig(trailing);
            return Float::finite(format, negative, format.quantum_min(), significand);
        }
        trailing.set_bit(hidden);
        let quantum = format.quantum_min() + biased - 1;
        Float::finite(format, negative, quantum, Significand::from_ubig(trailing))
    }

    /// `((_ to_fp eb sb) bits)` for a bit-vector of width `eb + sb`.
    pub fn from_ieee_bits(format: Format, bits: &UBig) -> Float {
        let trailing_width = format.sb() as usize - 1;
        let negative = bits.bit(format.width() as usize - 1);
        let high: UBig = bits >> trailing_width;
        let exponent = high.to_le_bytes();
        let mut low = [0; 8];
        let count = exponent.len().min(8);
        low[..count].copy_from_slice(&exponent[..count]);
        Float::from_fields(format, negative, u64::from_le_bytes(low), bits.clone())
    }

    /// Sign, biased exponent and trailing significand; `None` for NaN, which
    /// has many encodings and no preferred one.
    pub fn to_fields(&self) -> Option<(bool, u64, UBig)> {
        let format = self.format();
        Some(match &self.repr {
            Repr::Nan => return None,
            Repr::Zero { negative } => (*negative, 0, UBig::ZERO),
            Repr::Infinite { negative } => (*negative, (1 << format.eb()) - 1, UBig::ZERO),
            Repr::Finite { negative, quantum, significand } => {
                let mut bits = significand.to_ubig();
                let hidden = format.sb() as usize - 1;
                if bits.bit(hidden) {
                    bits.clear_bit(hidden);
                    (*negative, (quantum - format.quantum_min() + 1) as u64, bits)
                } else {
                    (*negative, 0, bits)
                }
            }
        })
    }

    /// The interchange encoding (Z3's `fp.to_ieee_bv`); `None` for NaN.
    pub fn to_ieee_bits(&self) -> Option<UBig> {
        let (negative, exponent, trailing) = self.to_fields()?;
        let format = self.format();
        let mut bits = UBig::from(exponent) << (format.sb() as usize - 1);
        bits += trailing;
        if negative {
            bits.set_bit(format.width() as usize - 1);
        }
        Some(bits)
    }

    /// The NaN pattern solvers print: positive, all-ones exponent, trailing
    /// significand one. For output only; no pattern is *the* encoding of NaN.
    pub fn customary_nan_bits(format: Format) -> UBig {
        let exponent = (UBig::ONE << format.eb() as usize) - UBig::ONE;
        (exponent << (format.sb() as usize - 1)) + UBig::ONE
    }

    pub fn from_f32(value: f32) -> Float {
        Float::from_ieee_bits(Format::FLOAT32, &UBig::from(value.to_bits()))
    }

    pub fn from_f64(value: f64) -> Float {
        Float::from_ieee_bits(Format::FLOAT64, &UBig::from(value.to_bits()))
    }
}
