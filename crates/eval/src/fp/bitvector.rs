//! Conversions between floating point and bit-vectors.

use dashu_int::UBig;

use crate::bv::BitVector;

use super::format::{Format, FormatError, RoundingMode};
use super::value::Float;

impl Float {
    /// `(fp sign exponent trailing)`; the format follows from the widths.
    /// A sign of any width counts as negative unless zero.
    pub fn from_triple(
        sign: &BitVector,
        exponent: &BitVector,
        trailing: &BitVector,
    ) -> Result<Float, FormatError> {
        let format = Format::new(exponent.width(), trailing.width().saturating_add(1))?;
        // Formats have exponents of at most 60 bits, so the value fits.
        let exponent = exponent.to_u64().unwrap_or(u64::MAX);
        Ok(Float::from_fields(format, !sign.is_zero(), exponent, trailing.to_ubig()))
    }

    /// `((_ to_fp eb sb) bits)` for a bit-vector of width `eb + sb`.
    pub fn from_bv(format: Format, bits: &BitVector) -> Float {
        debug_assert_eq!(bits.width(), format.width());
        Float::from_ieee_bits(format, &bits.to_ubig())
    }

    /// `((_ to_fp_unsigned eb sb) mode bits)`.
    pub fn from_unsigned_bv(format: Format, mode: RoundingMode, bits: &BitVector) -> Float {
        Float::from_integer(format, mode, &bits.to_unsigned())
    }

    /// `((_ to_fp eb sb) mode bits)` for a bit-vector in two's complement.
    pub fn from_signed_bv(format: Format, mode: RoundingMode, bits: &BitVector) -> Float {
        Float::from_integer(format, mode, &bits.to_signed())
    }

    /// `((_ fp.to_ubv width) mode x)`; `None` where it is unspecified.
    pub fn to_ubv(&self, mode: RoundingMode, width: u32) -> Option<BitVector> {
        Some(BitVector::from_integer(width, &self.to_unsigned(mode, width)?))
    }

    /// `((_ fp.to_sbv width) mode x)`; `None` where it is unspecified.
    pub fn to_sbv(&self, mode: RoundingMode, width: u32) -> Option<BitVector> {
        Some(BitVector::from_integer(width, &self.to_signed(mode, width)?))
    }

    /// Z3's `fp.to_ieee_bv`; `None` for NaN, which has no one encoding.
    pub fn to_ieee_bv(&self) -> Option<BitVector> {
        Some(BitVector::from_ubig(self.format().width(), self.to_ieee_bits()?))
    }

    /// The three bit-vectors of the value as a term `(fp s e m)`, with the
    /// customary pattern for NaN.
    pub fn to_triple(&self) -> (BitVector, BitVector, BitVector) {
        let format = self.format();
        let (negative, exponent, trailing) = self.to_fields().unwrap_or((false, u64::MAX, UBig::ONE));
        (
            BitVector::from_bool(negative),
            BitVector::new(format.eb(), exponent.into()),
            BitVector::from_ubig(format.sb() - 1, trailing),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_and_encodings_of_all_small_values_round_trip() {
        let format = Format::new(3, 3).unwrap();
        for code in 0..64 {
            let bits = BitVector::new(6, code);
            let value = Float::from_bv(format, &bits);
            let (sign, exponent, trailing) = value.to_triple();
            assert_eq!(Float::from_triple(&sign, &exponent, &trailing), Ok(value.clone()));
            if let Some(encoded) = value.to_ieee_bv() {
                assert_eq!(encoded, bits);
            }
        }
    }

    #[test]
    fn bit_vectors_convert_by_their_signed_or_unsigned_value() {
        let mode = RoundingMode::Rne;
        let ones = BitVector::all_ones(8);
        let minus_one = Float::from_signed_bv(Format::FLOAT32, mode, &ones);
        assert_eq!(minus_one, Float::from_f32(-1.0));
        assert_eq!(minus_one.to_sbv(mode, 8), Some(ones.clone()));
        assert_eq!(minus_one.to_ubv(mode, 8), None);
        let large = Float::from_unsigned_bv(Format::FLOAT32, mode, &ones);
        assert_eq!(large, Float::from_f32(255.0));
        assert_eq!(large.to_ubv(mode, 8), Some(ones));
        assert_eq!(large.to_sbv(mode, 8), None);
    }
}
