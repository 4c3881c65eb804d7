//! Many positions of one game: as many searches at a time as there are threads, over one transposition table.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use jlpns_games::spec::{GameSpec, MoveError, position_after};
use jlpns_games::{Bounds, Game, Move, with_game};
use jlpns_search::search::{Observer, SearchEnd, SearchSettings, search_any};
use jlpns_search::{Findings, Question, TranspositionTable};

/// What all of the positions have in common.
pub struct ManyPositions<'a> {
    /// The game.
    pub spec: &'a GameSpec,
    /// What is asked of each.
    pub question: Question,
    /// How it is searched.
    pub settings: &'a SearchSettings,
    /// What the searches share.
    pub table: &'a TranspositionTable,
    /// How many searches run at a time, at least one.
    pub threads: usize,
    /// Whether the run is to stop; asked while searches go on.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// How many nodes the searches have created so far.
    pub nodes: &'a AtomicU64,
}

/// What was found of one position.
#[derive(Clone, Debug)]
pub struct SearchedPosition {
    /// The moves to it from the start of the game.
    pub moves: Vec<Move>,
    /// Between what its value lies.
    pub bounds: Bounds,
    /// The end of its search.
    pub end: SearchEnd,
}

impl ManyPositions<'_> {
    /// Searches each position, and calls `found` with them in their order, each as soon as it and all before it
    /// are done. When the run is stopped, the positions of which a search has begun come with what is known.
    ///
    /// Errors with the first position whose moves are not legal.
    pub fn search(
        &self,
        positions: impl Iterator<Item = Vec<Move>> + Send,
        mut found: impl FnMut(SearchedPosition) -> ControlFlow<()>,
    ) -> Result<(), MoveError> {
        let positions = Mutex::new(positions.enumerate());
        let next = || {
            let mut positions = positions.lock().unwrap_or_else(PoisonError::into_inner);
            if (self.is_stopped)() { None } else { positions.next() }
        };
        thread::scope(|scope| {
            let (sender, ends) = mpsc::channel();
            for _ in 0..self.threads.max(1) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((index, moves)) = next() {
                        if sender.send((index, self.one(moves))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let (mut due, mut early) = (0, BTreeMap::new());
            for (index, end) in ends {
                early.insert(index, end);
                while let Some(end) = early.remove(&due) {
                    due += 1;
                    if found(end?).is_break() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }

    fn one(&self, moves: Vec<Move>) -> Result<SearchedPosition, MoveError> {
        let &ManyPositions { spec, question, settings, table, .. } = self;
        let outcome = with_game!(spec.game(), game => {
            game.outcome(&position_after(game, &moves)?)
        });
        let mut counted = Counted { many: self, counted: 0 };
        let end = search_any(spec.game(), &moves, question, settings, table.into(), &mut counted)?;
        counted.count(end.statistics.nodes);
        let scale = with_game!(spec.game(), game => game.scale());
        let bounds = || question.bounds(&end.findings.efforts, scale);
        Ok(SearchedPosition { bounds: outcome.map_or_else(bounds, Bounds::exactly), moves, end })
    }
}

/// Counts the nodes of one search, and stops it when the run is to stop.
struct Counted<'a> {
    many: &'a ManyPositions<'a>,
    counted: u64,
}

impl Counted<'_> {
    fn count(&mut self, nodes: u64) {
        self.many.nodes.fetch_add(nodes.saturating_sub(self.counted), Ordering::Relaxed);
        self.counted = nodes;
    }
}

impl Observer for Counted<'_> {
    fn observe(&mut self, nodes: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.count(nodes);
        if (self.many.is_stopped)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
