//! How many thresholds a search has numbers for, and sets of them.
//!
//! The widths are types so that the compiler knows the narrow ones: a node of Connect Four has no
//! length beside its numbers, and what marks some of its thresholds is one word.

use std::fmt::Debug;

/// How many thresholds a node has numbers for: known to the compiler or not.
pub trait Width: Copy + Debug + Send + Sync + 'static {
    /// Some of the thresholds.
    type Set: ThresholdSet;

    /// The number of thresholds.
    fn get(self) -> usize;
}

/// A set of thresholds, each as an index into a node's pairs.
pub trait ThresholdSet: Copy + Debug + Default + Eq + Send + Sync + 'static {
    /// How many thresholds there can be at the most.
    const MOST: usize;

    /// Whether the threshold at `index` is among them.
    fn has(self, index: usize) -> bool;

    /// Adds the threshold at `index`.
    fn insert(&mut self, index: usize);

    /// Whether there are none.
    #[inline(always)]
    fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl ThresholdSet for u32 {
    const MOST: usize = 32;

    #[inline(always)]
    fn has(self, index: usize) -> bool {
        self >> index & 1 != 0
    }

    #[inline(always)]
    fn insert(&mut self, index: usize) {
        *self |= 1 << index;
    }
}

impl ThresholdSet for [u64; 4] {
    const MOST: usize = 256;

    #[inline(always)]
    fn has(self, index: usize) -> bool {
        self[index / 64] >> (index % 64) & 1 != 0
    }

    #[inline(always)]
    fn insert(&mut self, index: usize) {
        self[index / 64] |= 1 << (index % 64);
    }
}

/// One threshold: proof-number search.
#[derive(Clone, Copy, Debug)]
pub struct One;

/// Two thresholds: three outcomes, as most games have that can be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Two;

/// Up to 32 thresholds.
#[derive(Clone, Copy, Debug)]
pub struct Several(pub usize);

/// As many thresholds as the largest scale has.
#[derive(Clone, Copy, Debug)]
pub struct Many(pub usize);

const _: () = assert!(jlpns_games::outcome::MAX_THRESHOLDS <= <[u64; 4]>::MOST);

impl Width for One {
    type Set = u32;

    #[inline(always)]
    fn get(self) -> usize {
        1
    }
}

impl Width for Two {
    type Set = u32;

    #[inline(always)]
    fn get(self) -> usize {
        2
    }
}

impl Width for Several {
    type Set = u32;

    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
}

impl Width for Many {
    type Set = [u64; 4];

    #[inline(always)]
    fn get(self) -> usize {
        self.0
    }
}

/// Runs an expression with the narrowest [`Width`](crate::efforts::Width) for a number of
/// thresholds: `with_width!(count, width => Graph::new(game, position, question, width, settings))`.
#[macro_export]
macro_rules! with_width {
    ($count:expr, $width:ident => $body:expr) => {
        match $count {
            1 => {
                let $width = $crate::efforts::One;
                $body
            }
            2 => {
                let $width = $crate::efforts::Two;
                $body
            }
            count if count <= <u32 as $crate::efforts::ThresholdSet>::MOST => {
                let $width = $crate::efforts::Several(count);
                $body
            }
            count => {
                let $width = $crate::efforts::Many(count);
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn is_a_set<S: ThresholdSet>(indices: &[usize]) {
        let (mut set, mut expected) = (S::default(), BTreeSet::new());
        assert!(set.is_empty());
        for index in indices.iter().map(|index| index % S::MOST) {
            set.insert(index);
            expected.insert(index);
            assert!(!set.is_empty());
            assert!((0..S::MOST).all(|index| set.has(index) == expected.contains(&index)));
        }
    }

    proptest! {
        #[test]
        fn sets_have_what_was_inserted(indices in prop::collection::vec(0usize..256, 0..40)) {
            is_a_set::<u32>(&indices);
            is_a_set::<[u64; 4]>(&indices);
        }
    }

    #[test]
    fn each_number_of_thresholds_has_a_width_whose_sets_hold_them() {
        fn room<W: Width>(width: W) -> (usize, usize) {
            (width.get(), W::Set::MOST)
        }
        for count in 1..=jlpns_games::outcome::MAX_THRESHOLDS {
            let (width, most) = with_width!(count, width => room(width));
            assert_eq!(width, count);
            assert!(count <= most, "{count} thresholds in a set of {most}");
        }
    }
}
