//! The nodes of a graph by key: a table that grows in place, some places at a time, so that nobody
//! ever waits for all of it to be moved.
//!
//! A node's home is the place that its hash points to when the hashes are spread evenly over the
//! table. Nodes lie in the order of their hashes, each at its home or behind it with no empty place
//! between (linear probing, Knuth 6.4, kept in order as in Amble and Knuth, "Ordered hash tables").
//! So when the homes are spread over a longer table each node moves up, and the order stays: those
//! with the largest hashes move first, into the new end, and from one hash on all homes are the new
//! ones.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};

use crate::graph::NodeId;
use crate::large_pages::{LargePages, LargeVec};
use crate::prefetch::prefetch;

/// A hash above a node; no node's id is all ones, so that an [`EMPTY`] place is none of them.
type Slot = u64;

const EMPTY: Slot = Slot::MAX;

/// How many homes there are at the least.
const LEAST_HOMES: u64 = 64;

/// The table grows when it has this many nodes for every [`HOMES`] homes...
const MOST_NODES: u64 = 21;
const HOMES: u64 = 25;

/// ...by one home for this many.
const GROWTH: u64 = 4;

/// How many places are added, or looked at to be moved, with each node that is added while the table
/// grows. Growth is over long before it is due again.
const STEP: usize = 32;

/// 2^64 divided by the golden ratio, made odd.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where nodes are by their keys.
#[derive(Debug)]
pub(super) struct Index {
    slots: LargeVec<Slot>,
    nodes: u64,
    homes: u64,
    growth: Option<Growth>,
    /// Always the same, so that every run is the same: when the memory is full depends on it.
    hasher: FixedState,
}

/// A growth that is under way.
#[derive(Debug)]
struct Growth {
    homes: u64,
    /// Nodes with this hash or a larger one have their new homes.
    moved: u64,
    /// Nodes that have their old ones are all before this place.
    end: usize,
}

fn hash_of(slot: Slot) -> u64 {
    slot >> 32
}

fn node_of(slot: Slot) -> NodeId {
    NodeId(slot as u32)
}

impl Default for Index {
    fn default() -> Index {
        let slots = LargeVec::new_in(LargePages);
        Index { slots, nodes: 0, homes: 0, growth: None, hasher: FixedState::default() }
    }
}

impl Index {
    /// The bytes of all places, those included that a growth under way will add.
    pub fn bytes(&self) -> usize {
        self.slots.len().max(self.homes_wanted() as usize) * size_of::<Slot>()
    }

    /// How many bytes more there are when this many nodes have been added.
    pub fn growth_for(&self, nodes: usize) -> usize {
        let grown = (self.homes_wanted() / GROWTH).max(LEAST_HOMES) as usize;
        if self.is_full_with(nodes) { grown * size_of::<Slot>() } else { 0 }
    }

    /// How many homes there are when the growth that is under way is over.
    fn homes_wanted(&self) -> u64 {
        self.growth.as_ref().map_or(self.homes, |growth| growth.homes)
    }

    /// Whether so many nodes more are too many.
    fn is_full_with(&self, nodes: usize) -> bool {
        (self.nodes + nodes as u64) * HOMES > self.homes_wanted() * MOST_NODES
    }

    /// 32 bits that are spread evenly: the hasher leaves patterns of the keys in the upper bits,
    /// where nodes would crowd around few homes.
    fn hash<K: Hash>(&self, key: K) -> u64 {
        let hash = self.hasher.hash_one(key);
        (hash ^ hash >> 32).wrapping_mul(SPREAD) >> 32
    }

    fn home(&self, hash: u64) -> usize {
        let homes = match &self.growth {
            Some(growth) if hash >= growth.moved => growth.homes,
            _ => self.homes,
        };
        ((hash * homes) >> 32) as usize
    }

    /// Begins to load where a key would be.
    #[inline]
    pub fn load<K: Hash>(&self, key: K) {
        if let Some(slot) = self.slots.get(self.home(self.hash(key))) {
            prefetch(slot);
        }
    }

    /// The node with this key.
    #[inline]
    pub fn find<K: Copy + Eq + Hash>(&self, key: K, keys: &[K]) -> Option<NodeId> {
        let hash = self.hash(key);
        let from = self.slots.get(self.home(hash)..)?;
        let upto = from.iter().take_while(|&&slot| slot != EMPTY && hash_of(slot) <= hash);
        let same = upto.filter(|&&slot| hash_of(slot) == hash).map(|&slot| node_of(slot));
        same.into_iter().find(|node| keys[node.0 as usize] == key)
    }

    /// Adds a node whose key is not in the table.
    pub fn insert<K: Hash>(&mut self, key: K, node: NodeId) {
        self.grow_a_step();
        self.nodes += 1;
        if self.is_full_with(0) {
            self.grow();
        }
        self.put(self.hash(key) << 32 | Slot::from(node.0));
    }

    /// Takes a node out.
    pub fn remove<K: Hash>(&mut self, key: K, node: NodeId) {
        let slot = self.hash(key) << 32 | Slot::from(node.0);
        let home = self.home(hash_of(slot));
        let found = self.slots[home..].iter().take_while(|&&other| other != EMPTY);
        let found = found.into_iter().position(|&other| other == slot);
        debug_assert!(found.is_some(), "every node is in the table");
        if let Some(behind) = found {
            self.take(home + behind);
            self.nodes -= 1;
        }
    }

    /// Makes room for so many nodes in all, in an empty table or one of few nodes.
    pub fn reserve(&mut self, nodes: usize) {
        self.finish_growth();
        let homes = nodes as u64 * HOMES / MOST_NODES + LEAST_HOMES;
        if homes > self.homes {
            self.begin_growth(homes);
            self.finish_growth();
        }
    }

    /// Puts a node in: those with larger hashes make room, each for the next.
    fn put(&mut self, slot: Slot) {
        let mut at = self.home(hash_of(slot));
        let behind = |other: &Slot| *other != EMPTY && hash_of(*other) <= hash_of(slot);
        at += self.slots[at..].iter().take_while(|other| behind(other)).count();
        let mut moving = slot;
        while moving != EMPTY {
            match self.slots.get_mut(at) {
                Some(place) => moving = std::mem::replace(place, moving),
                None => self.slots.push(std::mem::replace(&mut moving, EMPTY)),
            }
            at += 1;
        }
        if let Some(growth) = &mut self.growth
            && hash_of(slot) < growth.moved
        {
            growth.end = growth.end.max(at);
        }
    }

    /// Empties a place: those behind it that are not at home move back.
    fn take(&mut self, mut at: usize) {
        while let Some(&next) = self.slots.get(at + 1) {
            if next == EMPTY || self.home(hash_of(next)) > at {
                break;
            }
            self.slots[at] = next;
            at += 1;
        }
        self.slots[at] = EMPTY;
    }

    fn grow(&mut self) {
        // It is long over.
        self.finish_growth();
        self.begin_growth(self.homes + (self.homes / GROWTH).max(LEAST_HOMES));
        if self.slots.is_empty() {
            self.finish_growth();
        }
    }

    fn begin_growth(&mut self, homes: u64) {
        // There is no hash as large.
        let moved = 1 << 32;
        self.growth = Some(Growth { homes, moved, end: self.slots.len() });
    }

    fn finish_growth(&mut self) {
        while self.growth.is_some() {
            self.grow_a_step();
        }
    }

    fn grow_a_step(&mut self) {
        let Some(growth) = &mut self.growth else { return };
        let wanted = growth.homes as usize;
        if self.slots.len() < wanted {
            let len = wanted.min(self.slots.len() + STEP);
            return self.slots.resize(len, EMPTY);
        }
        for _ in 0..STEP {
            if !self.move_last() {
                return;
            }
        }
    }

    /// Gives the nodes with the largest hash of those that have not moved their new homes. Whether
    /// there may be more.
    fn move_last(&mut self) -> bool {
        let Some(growth) = &mut self.growth else { return false };
        let Some(at) = growth.end.checked_sub(1) else {
            self.homes = growth.homes;
            self.growth = None;
            return false;
        };
        let last = self.slots[at];
        growth.end = at;
        if last == EMPTY || hash_of(last) >= growth.moved {
            return true;
        }
        // All nodes with one hash move at once: the hash tells which have.
        let hash = hash_of(last);
        let mut same: SmallVec<[Slot; 4]> = smallvec![last];
        self.take(at);
        let mut before = at;
        while before > 0
            && self.slots[before - 1] != EMPTY
            && hash_of(self.slots[before - 1]) == hash
        {
            before -= 1;
            same.push(self.slots[before]);
            self.take(before);
        }
        if let Some(growth) = &mut self.growth {
            growth.moved = hash;
        }
        same.into_iter().for_each(|slot| self.put(slot));
        if let Some(growth) = &mut self.growth {
            growth.end = before;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use jlpns_games::connect4::Connect4;
    use jlpns_games::{Game, MoveList};
    use proptest::prelude::*;

    use super::*;

    impl Index {
        /// How many nodes it has.
        pub fn len(&self) -> usize {
            self.nodes as usize
        }

        /// Every node is at its home or behind it without a gap, in the order of hashes.
        fn check(&self) {
            let taken = || self.slots.iter().enumerate().filter(|&(_, &slot)| slot != EMPTY);
            assert_eq!(taken().count() as u64, self.nodes);
            assert!(taken().is_sorted_by_key(|(_, &slot)| hash_of(slot)));
            for (at, &slot) in taken() {
                let home = self.home(hash_of(slot));
                assert!(home <= at);
                assert!(self.slots[home..at].iter().all(|&slot| slot != EMPTY));
            }
        }
    }

    #[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
    struct Key(u32);

    proptest! {
        #[test]
        fn it_finds_exactly_the_nodes_that_are_in_it(
            steps in prop::collection::vec((any::<bool>(), 0u32..400), 1..2_000),
            reserved in prop::option::of(0usize..300),
        ) {
            let mut index = Index::default();
            reserved.into_iter().for_each(|nodes| index.reserve(nodes));
            let keys: Vec<Key> = (0..400).map(Key).collect();
            let mut known: HashMap<Key, NodeId> = HashMap::default();
            for (adds, number) in steps {
                let key = Key(number);
                match known.remove(&key) {
                    Some(node) if !adds => index.remove(key, node),
                    Some(node) => _ = known.insert(key, node),
                    None => {
                        let before = index.bytes();
                        let most = before + index.growth_for(1);
                        index.insert(key, NodeId(number));
                        known.insert(key, NodeId(number));
                        // But for what lies behind the last home.
                        prop_assert!(index.bytes() <= most + STEP * size_of::<Slot>());
                    }
                }
                index.check();
            }
            for &key in &keys {
                prop_assert_eq!(index.find(key, &keys), known.get(&key).copied());
            }
        }
    }

    #[test]
    fn nodes_with_one_hash_are_told_apart_by_their_keys() {
        /// A key whose hash is that of all others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct Same(u32);
        impl Hash for Same {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                0u8.hash(state);
            }
        }
        let mut index = Index::default();
        let keys: Vec<Same> = (0..300).map(Same).collect();
        for number in 0..300 {
            index.insert(keys[number as usize], NodeId(number));
            index.check();
        }
        index.remove(keys[7], NodeId(7));
        index.check();
        assert_eq!(index.find(keys[7], &keys), None);
        assert_eq!(index.find(keys[8], &keys), Some(NodeId(8)));
    }

    #[test]
    fn positions_of_a_game_lie_near_their_homes() {
        let game = Connect4::<u64>::new(7, 6).unwrap();
        let mut index = Index::default();
        let mut keys = vec![game.key(&game.start())];
        let mut positions = vec![game.start()];
        let mut next = 0;
        while keys.len() < 100_000 {
            let mut position = positions[next];
            next += 1;
            let mut moves = MoveList::new();
            game.moves(&position, &mut moves);
            for mv in moves {
                game.play(&mut position, mv);
                let key = game.key(&position);
                if game.outcome(&position).is_none() && index.find(key, &keys).is_none() {
                    index.insert(key, NodeId(keys.len() as u32));
                    keys.push(key);
                    positions.push(position);
                }
                game.undo(&mut position, mv);
            }
        }
        let taken = index.slots.iter().enumerate().filter(|&(_, &slot)| slot != EMPTY);
        let away: usize = taken.map(|(at, &slot)| at - index.home(hash_of(slot))).sum();
        // A full table of random hashes has 2.6 on average.
        assert!(away < 4 * keys.len(), "{}", away as f64 / keys.len() as f64);
    }

    #[test]
    fn no_step_of_its_growth_is_long() {
        let mut index = Index::default();
        for number in 0..200_000 {
            let before = index.slots.len();
            let is_due = index.is_full_with(1);
            assert!(!is_due || index.growth.is_none(), "one growth is over before the next");
            index.insert(Key(number), NodeId(number));
            assert!(index.slots.len() <= before + 2 * LEAST_HOMES as usize);
        }
        index.finish_growth();
        index.check();
    }
}
