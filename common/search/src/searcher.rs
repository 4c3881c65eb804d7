//! What a slot runs: a searcher for each solve, which keeps what its searches remember.

use std::sync::Arc;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, SpecError};

use crate::search_end::Observer;
use crate::{Findings, Job, SolvedPosition, TranspositionTable};

/// The stack of a thread that searches, in bytes: room for searches that recurse once a move, in the
/// longest games.
pub const STACK_BYTES: usize = 32 << 20;

/// How often at the least a worker tells what its searches have solved while they go on. Others search the same
/// positions at the same time, so what is told at the end of a job comes too late for them. It tells more often where it
/// is told more often: each time it is told something.
pub const TELL_INTERVAL: Duration = Duration::from_millis(10);

/// Makes a searcher for each solve.
pub trait Searching: Send + Sync + 'static {
    /// The game that a spec names, of those that this can search; `memory` bytes are for its own
    /// tables and for what its searches take.
    fn spec(&self, text: &str, _memory: u64) -> Result<GameSpec, SpecError> {
        text.parse()
    }

    /// A searcher for the game of a solve, for `slots` searches at a time, with `memory` bytes for
    /// all of their nodes and tables. The error is one sentence that says why there can be none.
    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String>;
}

/// Runs the searches of one solve, and keeps what they remember (the transposition table).
pub trait Searcher: Send + Sync + 'static {
    /// Searches until the question is answered, the budget is used up or the observer says stop.
    /// The error is one sentence that says why the job cannot be done at all.
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String>;

    /// Makes what the game makes once, such as tables of what it knows, so that the first search need not wait for it.
    /// It may take seconds.
    fn get_ready(&self) {}

    /// Asks for the positions that are solved with at least so many nodes from now on, and says that others will tell
    /// theirs; for the first time before the first search, else it changes nothing.
    fn keep_solved_from(&self, _work: u32) {}

    /// Those that were solved since the last call.
    fn take_solved(&self) -> Vec<SolvedPosition> {
        Vec::new()
    }

    /// Asks for the positions that its searches leave: for a sample of all positions, by their keys, so for
    /// the same ones on every machine.
    fn note_searched(&self) {}

    /// The keys of those that were left since the last call, one for each visit.
    fn take_searched(&self) -> Vec<u128> {
        Vec::new()
    }

    /// What its searches remember, if they use a table and there was one.
    fn table(&self) -> Option<&TranspositionTable> {
        None
    }

    /// Takes in what other workers have solved, for jobs that need not be searched alone.
    fn learn(&self, _solved: &[SolvedPosition]) {}

    /// Whether a search of the job may rest on what others have solved, up to now.
    fn rests_on_hearsay(&self, _job: &Job) -> bool {
        false
    }
}
