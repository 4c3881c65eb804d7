//! Solved positions that are worth telling others: what the searches of one worker have solved with
//! much work, for the tables of other workers.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;

use jlpns_games::Threshold;

use super::TranspositionTable;
use crate::effort::EffortPair;

/// How many solved positions wait to be told, at most.
const MOST_WAITING: usize = 4096;

/// A threshold that is answered in one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SolvedPosition {
    /// The key of the position.
    pub key: u128,
    /// The threshold.
    pub threshold: Threshold,
    /// Whether the value of the position reaches it.
    pub holds: bool,
    /// The work that it took, in nodes.
    pub work: u32,
}

impl TranspositionTable {
    /// From now on positions that are solved with at least so many nodes are kept for
    /// [`TranspositionTable::take_solved`].
    pub fn keep_solved_from(&self, work: u32) {
        self.solved_from.store(work.max(1), Relaxed);
    }

    /// What was solved since the last call: those with the most work first, if there were too many
    /// to keep.
    pub fn take_solved(&self) -> Vec<SolvedPosition> {
        if self.solved_from.load(Relaxed) == u32::MAX {
            return Vec::new();
        }
        std::mem::take(&mut *self.solved.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what was solved elsewhere; it is not told again. It may be a lie: if it contradicts
    /// what is known, neither is believed.
    pub fn learn(&self, solved: &SolvedPosition) {
        self.hearsay.store(true, Relaxed);
        fence(Release);
        self.insert(solved.key, solved.threshold, EffortPair::solved(solved.holds), solved.work);
    }

    /// Whether it was told anything. A search that has used what was told, and asks after it, hears of it.
    pub fn has_hearsay(&self) -> bool {
        // It goes with the fence of what was learnt.
        fence(Acquire);
        self.hearsay.load(Relaxed)
    }

    /// Keeps a solved position to be told.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(&self, solved: SolvedPosition) {
        let mut waiting = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= MOST_WAITING {
            waiting.sort_unstable_by_key(|solved| std::cmp::Reverse(solved.work));
            waiting.truncate(MOST_WAITING / 2);
        }
        waiting.push(solved);
    }
}
