//! Blocks on x86-64, with AVX2 and with AVX-512.

mod avx2;
mod avx512;
mod spelled;

use super::{Found, LEN, Processor, Work};
use crate::pattern::groups::Groups;
use crate::spelling::Spelling;

/// Defines a kind of x86-64 processor by its features, which are both what is detected and what
/// code is compiled for, and its operations on blocks.
macro_rules! x86_processor {
    ($(#[$doc:meta])* $name:ident: [$($feature:tt)+] $($operations:tt)+) => {
        $(#[$doc])*
        ///
        /// A value of this type exists only if the CPU has these features.
        #[derive(Clone, Copy)]
        pub(crate) struct $name(());

        impl $name {
            /// `Some` if this CPU has the features.
            #[inline]
            pub(in crate::pattern) fn detect() -> Option<Self> {
                let has_all = $(is_x86_feature_detected!($feature))&&+;
                has_all.then_some(Self(()))
            }
        }

        impl Processor for $name {
            const HAS_BLOCKS: bool = true;

            #[inline]
            fn run<W: Work>(self, work: W) -> W::Output {
                #[target_feature($(enable = $feature),+)]
                fn compiled<W: Work>(processor: $name, work: W) -> W::Output {
                    work.run(processor)
                }
                #[allow(unsafe_code, reason = "saves a tenth to a seventh of the time to encode")]
                // SAFETY: `self` exists, so the CPU has the features.
                unsafe {
                    compiled(self, work)
                }
            }

            $($operations)+
        }
    };
}

x86_processor! {
    /// With AVX2 and BMI: most x86-64 processors since 2013.
    Avx2: ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]

    #[inline(always)]
    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe {
            avx2::look_up(block, groups)
        }
    }
}

x86_processor! {
    /// With AVX-512 and its instructions for bytes: Intel since 2019, AMD since 2022. Before that,
    /// AVX2 is faster.
    Avx512: ["avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"]

    #[inline(always)]
    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            avx512::look_up(block, groups)
        }
    }

    #[inline(always)]
    fn spread(self, bits: u64, places: u64) -> u64 {
        #[allow(unsafe_code, reason = "one instruction")]
        // SAFETY: `self` exists, so the CPU has BMI2.
        unsafe {
            std::arch::x86_64::_pdep_u64(bits, places)
        }
    }

    #[inline(always)]
    fn spell(self, block: &[u8; 2 * LEN], places: u64, spellings: &mut [Spelling; LEN]) {
        #[allow(unsafe_code, reason = "sixteen at once")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            spelled::spell(block, places, spellings);
        }
    }

    #[inline(always)]
    fn are_set(self, table: &[u32], numbers: &[u32; LEN], len: usize) -> u64 {
        #[allow(unsafe_code, reason = "sixteen at once")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            spelled::are_set(table, numbers, len)
        }
    }

    #[inline(always)]
    fn write_places(self, base: usize, group: u64, places: &mut [usize; LEN]) {
        #[allow(unsafe_code, reason = "a fifth of the instructions")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            avx512::write_places(base, group, places);
        }
    }
}
