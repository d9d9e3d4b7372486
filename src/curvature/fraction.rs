//! Exact fractions of 32-bit numbers, compared in 64 bits.

use std::cmp::Ordering;

/// A fraction with a denominator above 0, not necessarily in lowest terms.
#[derive(Debug, Clone, Copy)]
pub struct Fraction {
    /// The numerator.
    pub top: i32,
    /// The denominator; above 0.
    pub bottom: i32,
}

impl Fraction {
    /// 1, the curvature where no prefix is left.
    pub const ONE: Self = Self { top: 1, bottom: 1 };

    /// `top / bottom`.
    #[must_use]
    pub fn new(top: i32, bottom: i32) -> Self {
        debug_assert!(bottom > 0);
        Self { top, bottom }
    }

    /// The smallest whole number above this fraction times `factor`, or the largest of 32 bits.
    #[must_use]
    pub fn next_above(self, factor: i32) -> i32 {
        let product = i64::from(self.top) * i64::from(factor);
        let above = product.div_euclid(i64::from(self.bottom)) + 1;
        i32::try_from(above).unwrap_or(i32::MAX)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |top: i32, bottom: i32| i64::from(top) * i64::from(bottom);
        product(self.top, other.bottom).cmp(&product(other.top, self.bottom))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}
