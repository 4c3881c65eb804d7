//! Who searched what: a worker that has searched a position still has much of what lies below it in
//! its table, and is the best one to search the position's children.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use jlpns_common::Move;

use super::event::WorkerId;

/// How many positions are remembered, twice.
const REMEMBERED: usize = 1 << 17;

/// The last worker on each position, by the moves to it: two generations, of which the older one is
/// forgotten when the younger one is full.
#[derive(Debug, Default)]
pub struct Affinity {
    young: HashMap<u64, WorkerId, FixedState>,
    old: HashMap<u64, WorkerId, FixedState>,
}

impl Affinity {
    /// Notes that `worker` has searched the position after `moves`.
    pub fn note(&mut self, moves: &[Move], worker: WorkerId) {
        self.young.insert(name(moves), worker);
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
    }

    /// Who has searched the position before the last of `moves`.
    pub fn parents_worker(&self, moves: &[Move]) -> Option<WorkerId> {
        let (_, parent) = moves.split_last()?;
        let name = name(parent);
        self.young.get(&name).or_else(|| self.old.get(&name)).copied()
    }
}

fn name(moves: &[Move]) -> u64 {
    FixedState::default().hash_one(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_worker_on_the_parent_is_known() {
        let mut affinity = Affinity::default();
        let moves: Vec<Move> = (0..4).map(Move).collect();
        assert_eq!(affinity.parents_worker(&moves), None);
        affinity.note(&moves[..3], WorkerId(5));
        affinity.note(&moves[..3], WorkerId(7));
        assert_eq!(affinity.parents_worker(&moves), Some(WorkerId(7)));
        assert_eq!(affinity.parents_worker(&moves[..3]), None);
        assert_eq!(affinity.parents_worker(&[]), None);
    }
}
