//! Shifts, rotations, and the operations that change the width.

use super::{BitVector, MAX_WIDTH, NATIVE_WIDTH, Repr, join, sign_extended};

impl BitVector {
    /// The shift distance, `None` when it moves every bit out.
    #[inline]
    fn shift_distance(&self, amount: &BitVector) -> Option<u32> {
        let distance = u32::try_from(amount.to_u64()?).ok()?;
        (distance < self.width()).then_some(distance)
    }

    #[inline]
    pub fn shl(&self, amount: &BitVector) -> BitVector {
        match self.shift_distance(amount) {
            Some(distance) => self.shift_left_by(distance),
            None => BitVector::zero(self.width()),
        }
    }

    #[inline]
    pub fn lshr(&self, amount: &BitVector) -> BitVector {
        match self.shift_distance(amount) {
            Some(distance) => self.shift_right_by(distance),
            None => BitVector::zero(self.width()),
        }
    }

    #[inline]
    pub fn ashr(&self, amount: &BitVector) -> BitVector {
        let distance = self.shift_distance(amount).unwrap_or(self.width() - 1);
        match &self.0 {
            Repr::Small { width, words } => {
                let value = sign_extended(*width, join(*words));
                BitVector::native(*width, (value >> distance) as u128)
            }
            // Shifting the complement keeps the sign bits at one.
            Repr::Big { .. } if self.sign_bit() => self.not().shift_right_by(distance).not(),
            // The highest bit is clear, so the clamped distance leaves zero.
            Repr::Big { .. } => self.shift_right_by(distance),
        }
    }

    /// `distance` is below the width.
    #[inline]
    fn shift_left_by(&self, distance: u32) -> BitVector {
        match &self.0 {
            Repr::Small { width, words } => BitVector::native(*width, join(*words) << distance),
            Repr::Big { width, bits } => BitVector::from_ubig(*width, &**bits << distance as usize),
        }
    }

    /// `distance` is below the width.
    #[inline]
    fn shift_right_by(&self, distance: u32) -> BitVector {
        match &self.0 {
            Repr::Small { width, words } => BitVector::native(*width, join(*words) >> distance),
            Repr::Big { width, bits } => BitVector::from_ubig(*width, &**bits >> distance as usize),
        }
    }

    /// `(_ rotate_left count)`.
    pub fn rotate_left(&self, count: u64) -> BitVector {
        let width = self.width();
        let distance = (count % u64::from(width)) as u32;
        if distance == 0 {
            return self.clone();
        }
        self.shift_left_by(distance).or(&self.shift_right_by(width - distance))
    }

    /// `(_ rotate_right count)`.
    pub fn rotate_right(&self, count: u64) -> BitVector {
        let width = u64::from(self.width());
        self.rotate_left(width - count % width)
    }

    /// Rotation by a bit-vector, modulo the width.
    pub fn ext_rotate_left(&self, amount: &BitVector) -> BitVector {
        self.rotate_left(self.rotation(amount))
    }

    /// Rotation by a bit-vector, modulo the width.
    pub fn ext_rotate_right(&self, amount: &BitVector) -> BitVector {
        self.rotate_right(self.rotation(amount))
    }

    fn rotation(&self, amount: &BitVector) -> u64 {
        amount.to_u64().unwrap_or_else(|| amount.to_ubig() % u64::from(self.width()))
    }

    /// `self` holds the high bits. `None` beyond [`MAX_WIDTH`], here and in
    /// the other widening operations.
    #[inline]
    pub fn concat(&self, low: &BitVector) -> Option<BitVector> {
        let width = allowed(self.width().checked_add(low.width())?)?;
        if width <= NATIVE_WIDTH
            && let (Some(high), Some(bits)) = (self.small(), low.small())
        {
            return Some(BitVector::native(width, high << low.width() | bits));
        }
        let bits = (self.to_ubig() << low.width() as usize) | low.to_ubig();
        Some(BitVector::from_ubig(width, bits))
    }

    /// `((_ extract high low) self)`, with `low <= high < width`.
    #[inline]
    pub fn extract(&self, high: u32, low: u32) -> BitVector {
        debug_assert!(low <= high && high < self.width());
        let width = high - low + 1;
        match &self.0 {
            Repr::Small { words, .. } => BitVector::native(width, join(*words) >> low),
            Repr::Big { bits, .. } => BitVector::from_ubig(width, &**bits >> low as usize),
        }
    }

    /// `((_ repeat count) self)`, with `count` at least 1.
    pub fn repeat(&self, count: u32) -> Option<BitVector> {
        allowed(self.width().checked_mul(count.max(1))?)?;
        // Doubling: as many concatenations as the count has bits.
        let mut power = self.clone();
        let mut result: Option<BitVector> = None;
        let mut left = count.max(1);
        loop {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(done) => power.concat(&done)?,
                    None => power.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                return result;
            }
            power = power.concat(&power)?;
        }
    }

    #[inline]
    pub fn zero_extend(&self, count: u32) -> Option<BitVector> {
        let width = allowed(self.width().checked_add(count)?)?;
        Some(match self.small() {
            Some(value) => BitVector::new(width, value),
            None => BitVector::from_ubig(width, self.to_ubig()),
        })
    }

    #[inline]
    pub fn sign_extend(&self, count: u32) -> Option<BitVector> {
        let width = allowed(self.width().checked_add(count)?)?;
        if width <= NATIVE_WIDTH
            && let Some(value) = self.small()
        {
            let extended = sign_extended(self.width(), value);
            return Some(BitVector::native(width, extended as u128));
        }
        if !self.sign_bit() {
            return self.zero_extend(count);
        }
        // The complement is nonnegative, and its complement fills with ones.
        Some(self.not().zero_extend(count)?.not())
    }
}

#[inline]
fn allowed(width: u32) -> Option<u32> {
    (width <= MAX_WIDTH).then_some(width)
}
