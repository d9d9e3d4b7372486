//! Exact fractions of small numbers, which are all that a curvature needs.

use std::cmp::Ordering;

/// A fraction with a divisor above 0, not necessarily in lowest terms.
#[derive(Debug, Clone, Copy)]
pub struct Fraction {
    /// What is divided.
    pub top: i32,
    /// What it is divided by; above 0.
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

    /// The smallest whole number above this fraction times `factor`.
    #[must_use]
    pub fn next_above(self, factor: i32) -> i32 {
        (self.top * factor).div_euclid(self.bottom) + 1
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.top * other.bottom).cmp(&(other.top * self.bottom))
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
