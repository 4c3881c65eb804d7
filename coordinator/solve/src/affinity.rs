//! Who searched what: a worker that has searched a position still has much of what lies below it in
//! its table, and is the best one to search the position's children.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use jlpns_games::Move;

use super::ids::WorkerId;
use super::recent::Recent;

/// The last worker on each position of late, by the moves to it.
#[derive(Debug, Default)]
pub struct Affinity(Recent<u64, WorkerId, { 1 << 17 }>);

impl Affinity {
    /// Notes that `worker` has searched the position after `moves`.
    pub fn note(&mut self, moves: &[Move], worker: WorkerId) {
        self.0.note(name(moves), worker);
    }

    /// Who has searched the position before the last of `moves`.
    pub fn parents_worker(&self, moves: &[Move]) -> Option<WorkerId> {
        let (_, parent) = moves.split_last()?;
        self.0.get(&name(parent)).copied()
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
