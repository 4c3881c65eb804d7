//! What was noted lately, in bounded memory.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::FixedState;

/// Values by their keys, in two generations: the older one is forgotten when the younger one has
/// `N` keys, so between `N` and twice as many of the last ones are known.
#[derive(Debug)]
pub struct Recent<K, V, const N: usize> {
    young: HashMap<K, V, FixedState>,
    old: HashMap<K, V, FixedState>,
}

impl<K, V, const N: usize> Default for Recent<K, V, N> {
    fn default() -> Recent<K, V, N> {
        Recent { young: HashMap::default(), old: HashMap::default() }
    }
}

impl<K: Eq + Hash, V, const N: usize> Recent<K, V, N> {
    /// Notes a value, in the place of an earlier one with the same key.
    pub fn note(&mut self, key: K, value: V) {
        self.old.remove(&key);
        self.young.insert(key, value);
        if self.young.len() >= N {
            self.old = std::mem::take(&mut self.young);
        }
    }

    /// The value that was noted last with this key, unless that is too long ago.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// All that is known, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.young.iter().chain(&self.old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_known() {
        let mut recent = Recent::<u32, u32, 4>::default();
        (1..=9).for_each(|n| recent.note(n, 10 * n));
        let mut known: Vec<u32> = recent.iter().map(|(_, &value)| value).collect();
        known.sort_unstable();
        assert_eq!(known, [50, 60, 70, 80, 90]);
        assert_eq!((recent.get(&4), recent.get(&5)), (None, Some(&50)));
        recent.note(5, 55);
        assert_eq!(recent.get(&5), Some(&55));
        assert_eq!((recent.iter().count(), recent.len()), (5, 5));
    }
}
