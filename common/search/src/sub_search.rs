//! The sub-searches behind the slots: from a job to the search that it names.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jlpns_games::spec::{GameSpec, Games, SpecError};
use jlpns_games::{Game, OutcomeScale, with_game};

use crate::search::{Observer, SearchSettings, Store, Tables, search_any};
use crate::searcher::{Searcher, Searching};
use crate::table::{ENTRY_BYTES, TableTooLarge};
use crate::{Findings, Job, Question, SolvedPosition, TranspositionTable};

/// How many positions that others have solved are kept for a table that is still to be made, at 32
/// bytes each. The others are searched again, if they matter.
const MOST_LEARNT: usize = 1 << 20;

/// Runs the searches of this crate.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubSearches;

impl Searching for SubSearches {
    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        Ok(Arc::new(OneSolve::new(spec, memory, slots)?))
    }
}

/// Runs the searches of this crate on games that are listed here: those of other crates may be among
/// them.
#[derive(Clone, Debug)]
pub struct SubSearchesOf(pub Games);

impl Searching for SubSearchesOf {
    fn spec(&self, text: &str, memory: u64) -> Result<GameSpec, SpecError> {
        Ok(self.0.spec(text)?.with_memory(memory / 2))
    }

    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        SubSearches.searcher(spec, memory.saturating_sub(spec.memory()), slots)
    }
}

/// Runs the searches of this crate in the process of a coordinator, on the coordinator's own game: what
/// a game makes once, such as tables of what it knows, is made once for both.
pub struct EmbeddedSubSearches {
    spec: GameSpec,
    /// The searches of the coordinator's solve, once there are some.
    own: OnceLock<Arc<OneSolve>>,
}

impl EmbeddedSubSearches {
    /// Searches beside a coordinator whose game this is.
    pub fn new(spec: GameSpec) -> EmbeddedSubSearches {
        EmbeddedSubSearches { spec, own: OnceLock::new() }
    }

    /// The table of the searches of the coordinator's solve, as they left it; `None` if they used none.
    pub fn table(&self) -> Option<&TranspositionTable> {
        self.own.get()?.table()
    }
}

impl Searching for EmbeddedSubSearches {
    fn spec(&self, text: &str, _memory: u64) -> Result<GameSpec, SpecError> {
        if text == self.spec.as_str() { Ok(self.spec.clone()) } else { text.parse() }
    }

    fn searcher(
        &self,
        spec: &GameSpec,
        memory: u64,
        slots: u32,
    ) -> Result<Arc<dyn Searcher>, String> {
        let searches = Arc::new(OneSolve::new(spec, memory, slots)?);
        if spec.as_str() == self.spec.as_str() {
            // Of several, the first is the solve's own: a coordinator has one.
            let _ = self.own.set(searches.clone());
        }
        Ok(searches)
    }
}

/// The part of the memory for tables that goes to searches that are to rest on nothing that others tell, where
/// others tell something.
const PART_ALONE: u64 = 4;
/// The work from which solved positions are kept, where nothing is shared.
const NOT_SHARED: u32 = u32::MAX;

/// The searches of one solve; all slots share one transposition table, which is made when the
/// first job needs it. Where workers tell each other what they solve, there is a second one, which
/// takes nothing in of that.
struct OneSolve {
    spec: GameSpec,
    memory: u64,
    slots: u64,
    /// For searches that do not use a table.
    no_table: TranspositionTable,
    /// The one that takes in what others tell.
    table: OnceLock<Result<TranspositionTable, TableTooLarge>>,
    /// The one for jobs that are to be searched alone, where others tell something.
    alone: OnceLock<Result<TranspositionTable, TableTooLarge>>,
    /// The work from which solved positions are kept, for a table that is still to be made.
    solved_from: AtomicU32,
    /// Whether it is to note which positions are searched.
    notes_searched: AtomicBool,
    /// What it is to know from the beginning.
    learnt: Mutex<Vec<SolvedPosition>>,
}

impl OneSolve {
    fn new(spec: &GameSpec, memory: u64, slots: u32) -> Result<OneSolve, String> {
        let no_table = TranspositionTable::with_bytes(0).map_err(|error| error.to_string())?;
        Ok(OneSolve {
            spec: spec.clone(),
            memory,
            slots: u64::from(slots.max(1)),
            no_table,
            table: OnceLock::new(),
            alone: OnceLock::new(),
            solved_from: AtomicU32::new(NOT_SHARED),
            notes_searched: AtomicBool::new(false),
            learnt: Mutex::default(),
        })
    }

    /// Whether workers tell each other what they solve.
    fn is_shared(&self) -> bool {
        self.solved_from.load(Relaxed) != NOT_SHARED
    }

    /// The table for a job, and the memory that its search may take, in bytes.
    fn share(&self, job: &Job) -> Result<(&TranspositionTable, u64), String> {
        let algorithm = job.sub_search;
        if !algorithm.uses_table() {
            return Ok((&self.no_table, self.memory / self.slots));
        }
        let whole = SearchSettings { algorithm, memory: self.memory, ..SearchSettings::default() };
        let bytes = whole.table_bytes();
        let for_alone = if self.is_shared() { bytes / PART_ALONE } else { 0 };
        let table = if job.alone && self.is_shared() {
            self.alone.get_or_init(|| self.new_table(for_alone))
        } else {
            self.table.get_or_init(|| {
                let table = self.new_table(bytes - for_alone)?;
                table.keep_solved_from(self.solved_from.load(Relaxed));
                let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
                learnt.drain(..).for_each(|solved| table.learn(&solved));
                Ok(table)
            })
        };
        let table = table.as_ref().map_err(|error| error.to_string())?;
        // The search takes the table's entries off its memory; the second level gets the rest.
        let rest = self.memory.saturating_sub(bytes) / self.slots;
        Ok((table, table.len().saturating_mul(ENTRY_BYTES).saturating_add(rest)))
    }

    fn new_table(&self, bytes: u64) -> Result<TranspositionTable, TableTooLarge> {
        let table = TranspositionTable::with_bytes(bytes)?;
        if self.notes_searched.load(Relaxed) {
            table.note_searched();
        }
        Ok(table)
    }

    /// The tables that there are.
    fn tables(&self) -> impl Iterator<Item = &TranspositionTable> {
        [&self.table, &self.alone].into_iter().filter_map(|table| table.get()?.as_ref().ok())
    }
}

impl Searcher for OneSolve {
    fn search(&self, job: &Job, observer: &mut dyn Observer) -> Result<Findings, String> {
        let (table, memory) = self.share(job)?;
        let settings =
            SearchSettings { store: Store::Graph, memory, ..SearchSettings::of_job(job) };
        let game = self.spec.game();
        fits(job.question, with_game!(game, game => game.scale()))?;
        // What others have told is good enough to say which move to try first.
        let hints = self.table().filter(|_| job.alone && self.is_shared());
        let tables = Tables { table, hints };
        let end = search_any(game, &job.moves, job.question, &settings, tables, observer);
        Ok(end.map_err(|error| error.to_string())?.findings)
    }

    fn get_ready(&self) {
        let game = self.spec.game();
        with_game!(game, game => {
            // What a game knows is made when it is asked for the first time.
            game.survey(&game.start(), game.scale().bounds());
        });
    }

    fn keep_solved_from(&self, work: u32) {
        let work = work.min(NOT_SHARED - 1);
        // A job that is to be searched alone may be on the one table that there is, which is never to be told.
        if self.table.get().is_none() || self.is_shared() {
            self.solved_from.store(work, Relaxed);
        }
        if let Some(table) = self.table().filter(|_| self.is_shared()) {
            table.keep_solved_from(work);
        }
    }

    fn take_solved(&self) -> Vec<SolvedPosition> {
        match self.table.get() {
            Some(Ok(table)) => table.take_solved(),
            _ => Vec::new(),
        }
    }

    fn note_searched(&self) {
        self.notes_searched.store(true, Relaxed);
        self.tables().for_each(TranspositionTable::note_searched);
    }

    fn take_searched(&self) -> Vec<u128> {
        self.tables().flat_map(TranspositionTable::take_searched).collect()
    }

    fn table(&self) -> Option<&TranspositionTable> {
        self.table.get()?.as_ref().ok()
    }

    fn learn(&self, solved: &[SolvedPosition]) {
        if solved.is_empty() || !self.is_shared() {
            return;
        }
        match self.table.get() {
            Some(Ok(table)) => solved.iter().for_each(|solved| table.learn(solved)),
            Some(Err(_)) => {}
            None => {
                let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MOST_LEARNT.saturating_sub(learnt.len());
                learnt.extend_from_slice(&solved[..solved.len().min(room)]);
            }
        }
    }

    fn rests_on_hearsay(&self, job: &Job) -> bool {
        let was_told = self.table().is_some_and(TranspositionTable::has_hearsay);
        was_told && !job.alone && job.sub_search.uses_table()
    }
}

/// Checks that the game has the outcomes that a question asks for.
fn fits(question: Question, scale: &OutcomeScale) -> Result<(), String> {
    let best = scale.best().0;
    match question {
        Question::Threshold(threshold) if usize::from(threshold.0) > scale.len() => Err(format!(
            "threshold {} is beyond the scale; this game has thresholds 0 to {}",
            threshold.0,
            scale.len()
        )),
        Question::Value(bounds) if bounds.lower >= bounds.upper || bounds.upper.0 > best => {
            Err(format!(
                "relevancy bounds {} to {} do not fit; this game has outcomes 0 to {best}",
                bounds.lower.0, bounds.upper.0
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
