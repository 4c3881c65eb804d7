//! Effort numbers: how much is still missing for a proof (GPNS paper, sections 2 and 4.1).

use std::fmt;

/// An effort number: 0 is proved, [`Effort::INFINITY`] is proved to be impossible, and anything
/// between is an estimate of the node expansions that are missing.
///
/// Sums saturate at [`Effort::MAX_FINITE`], so that a finite sum never turns into infinity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Effort(u32);

impl Effort {
    /// Proved: nothing is missing.
    pub const ZERO: Effort = Effort(0);
    /// The effort of a frontier node with unit initialisation.
    pub const ONE: Effort = Effort(1);
    /// The largest number that does not mean "impossible".
    pub const MAX_FINITE: Effort = Effort(u32::MAX - 1);
    /// Proved to be impossible.
    pub const INFINITY: Effort = Effort(u32::MAX);

    /// The finite effort nearest to `n`.
    #[inline]
    pub fn finite(n: u64) -> Effort {
        Effort(n.min(u64::from(Self::MAX_FINITE.0)) as u32)
    }

    /// The number as it is stored and sent: `u32::MAX` stands for infinity.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The inverse of [`Effort::to_bits`].
    #[inline]
    pub const fn from_bits(bits: u32) -> Effort {
        Effort(bits)
    }

    /// Whether the fact is proved.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether the fact is proved to be false.
    #[inline]
    pub const fn is_infinite(self) -> bool {
        self.0 == u32::MAX
    }

    /// Whether it is at most `most` times another number; an infinite one is not.
    #[inline]
    pub fn is_within(self, most: f64, of: Effort) -> bool {
        !self.is_infinite() && f64::from(self.0) <= f64::from(of.0) * most
    }

    /// The sum, infinite only if one of the two is.
    #[inline]
    pub fn plus(self, other: Effort) -> Effort {
        let mut sum = EffortSum::default();
        sum.add(self);
        sum.add(other);
        sum.total()
    }
}

impl fmt::Debug for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_infinite() { f.pad("inf") } else { fmt::Display::fmt(&self.0, f) }
    }
}

/// A running sum of effort numbers; saturates once, at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffortSum {
    total: u64,
    /// The largest number, and how many are not zero.
    largest: u32,
    terms: u32,
    infinite: bool,
}

impl EffortSum {
    /// Adds one number.
    #[inline]
    pub fn add(&mut self, effort: Effort) {
        self.total += u64::from(effort.0);
        self.largest = self.largest.max(effort.0);
        self.terms += u32::from(!effort.is_zero());
        self.infinite |= effort.is_infinite();
    }

    /// The sum of all numbers added.
    #[inline]
    pub fn total(self) -> Effort {
        if self.infinite { Effort::INFINITY } else { Effort::finite(self.total) }
    }

    /// The effort for all of them where a part of it is the same, because the positions below brothers are in part the
    /// same: the largest number and half of the rest, but at least one for each number more. In between the sum, which
    /// counts twice what is below two brothers, and the weak proof number, the largest and one for each number more
    /// (Ueda, Hashimoto, Hashimoto and Iida, "Weak proof-number search", 2008).
    #[inline]
    pub fn overlapping(self) -> Effort {
        if self.infinite {
            return Effort::INFINITY;
        }
        let largest = u64::from(self.largest);
        let rest = self.total - largest;
        let one_each = u64::from(self.terms.saturating_sub(1));
        Effort::finite(largest + (rest / 2).max(one_each))
    }
}

/// The two effort numbers of one threshold t: `proof` is G(n, t), the effort to prove that the
/// value is at least t, and `disproof` is S(n, t - 1), the effort to prove that it is less.
///
/// With two outcomes these are the proof and disproof numbers of PNS.
///
/// ```
/// use jlpns_search::{Effort, EffortPair};
///
/// let open = EffortPair { proof: Effort::ONE, disproof: Effort::finite(3) };
/// assert_eq!((open.verdict(), open.is_consistent()), (None, true));
/// assert_eq!(EffortPair::solved(true), EffortPair::PROVED);
/// assert_eq!(EffortPair::DISPROVED.verdict(), Some(false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct EffortPair {
    /// Effort to prove "at least t".
    pub proof: Effort,
    /// Effort to prove "less than t".
    pub disproof: Effort,
}

impl EffortPair {
    /// "At least t" holds.
    pub const PROVED: EffortPair = EffortPair { proof: Effort::ZERO, disproof: Effort::INFINITY };
    /// "At least t" does not hold.
    pub const DISPROVED: EffortPair =
        EffortPair { proof: Effort::INFINITY, disproof: Effort::ZERO };
    /// A frontier node with unit initialisation.
    pub const UNIT: EffortPair = EffortPair { proof: Effort::ONE, disproof: Effort::ONE };

    /// The pair of a solved threshold.
    #[inline]
    pub const fn solved(holds: bool) -> EffortPair {
        if holds { Self::PROVED } else { Self::DISPROVED }
    }

    /// Whether the threshold is proved or disproved.
    #[inline]
    pub const fn is_solved(self) -> bool {
        self.proof.is_zero() || self.disproof.is_zero()
    }

    /// `Some(true)` when proved, `Some(false)` when disproved.
    #[inline]
    pub const fn verdict(self) -> Option<bool> {
        if self.proof.is_zero() {
            Some(true)
        } else if self.disproof.is_zero() {
            Some(false)
        } else {
            None
        }
    }

    /// Whether the two numbers agree: 0 on one side means infinity on the other, and the other
    /// way round (Propositions 1 and 2).
    pub const fn is_consistent(self) -> bool {
        self.proof.is_zero() == self.disproof.is_infinite()
            && self.disproof.is_zero() == self.proof.is_infinite()
    }
}

const _: () = assert!(size_of::<EffortPair>() == 8);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_saturated_finite_sum_is_not_infinity() {
        assert_eq!(Effort::MAX_FINITE.plus(Effort::MAX_FINITE), Effort::MAX_FINITE);
        assert_eq!(Effort::MAX_FINITE.plus(Effort::INFINITY), Effort::INFINITY);
        assert_eq!(Effort::finite(u64::MAX), Effort::MAX_FINITE);
    }

    proptest! {
        #[test]
        fn sums_are_infinite_exactly_when_a_term_is(bits in prop::collection::vec(
            prop_oneof![Just(0), Just(u32::MAX), Just(u32::MAX - 1), any::<u32>()], 0..40)) {
            let mut sum = EffortSum::default();
            for &b in &bits {
                sum.add(Effort::from_bits(b));
            }
            prop_assert_eq!(sum.total().is_infinite(), bits.contains(&u32::MAX));
            let folded = bits.iter().map(|&b| Effort::from_bits(b)).fold(Effort::ZERO, Effort::plus);
            prop_assert_eq!(sum.total(), folded);
            prop_assert_eq!(sum.overlapping().is_infinite(), folded.is_infinite());
            prop_assert_eq!(sum.overlapping().is_zero(), folded.is_zero());
            prop_assert!(sum.overlapping() <= folded);
        }

        #[test]
        fn what_brothers_have_in_common_counts_by_half(
            bits in prop::collection::vec(prop_oneof![0_u32..3, 0_u32..1_000], 1..40)
        ) {
            let mut sum = EffortSum::default();
            bits.iter().for_each(|&b| sum.add(Effort::from_bits(b)));
            let largest = bits.iter().copied().max().unwrap_or(0);
            let rest = bits.iter().sum::<u32>() - largest;
            let open = bits.iter().filter(|&&b| b > 0).count() as u32;
            let overlapping = sum.overlapping().to_bits();
            prop_assert!(overlapping >= largest + rest / 2 && overlapping >= open);
            prop_assert!(overlapping == largest + rest / 2 || overlapping == largest + open - 1);
        }
    }
}
