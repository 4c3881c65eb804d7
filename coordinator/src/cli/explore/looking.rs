//! Searches of what is looked at: all moves of a position in rounds, each with a larger budget, over one table.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use jlpns_games::spec::{GameSpec, MoveError, position_after};
use jlpns_games::{Goal, Move, with_game};
use jlpns_search::answer::{Proved, line};
use jlpns_search::search::{Observer, SearchSettings};
use jlpns_search::strategy::NoMove;
use jlpns_search::{Algorithm, Findings, Initialisation, Question, TranspositionTable};
use jlpns_solve::Solve;

use super::knowledge::{Knowledge, Known};
use super::model::{Found, ProvedLine};
use super::place::{Place, scale};
use crate::many::ManyPositions;

/// The nodes of the first search of a move, and how many times more each further round has.
const FIRST_BUDGET: u64 = 2_000;
const BUDGET_GROWTH: u64 = 4;

/// Searches positions and remembers what it has found.
pub struct Looker {
    spec: GameSpec,
    /// The solve whose folder is looked at.
    solve: Option<Solve>,
    goal: Option<Goal>,
    table: TranspositionTable,
    threads: u32,
    knowledge: Knowledge,
}

/// How long a look may take.
pub struct Limits<'a> {
    /// The nodes that the searches may create in all.
    pub nodes: Option<u64>,
    /// Whether to stop now; asked while searches go on.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Looker {
    /// For a game, with a table that takes what is found, and the solve whose folder is looked at.
    pub fn new(
        spec: GameSpec,
        solve: Option<Solve>,
        table: TranspositionTable,
        threads: u32,
    ) -> Looker {
        let goal = solve.as_ref().and_then(|solve| solve.settings().goal);
        for solved in solve.iter().filter(|solve| solve.end().is_some()).flat_map(Solve::proof_tree)
        {
            table.learn(&solved);
        }
        Looker { spec, solve, goal, table, threads, knowledge: Knowledge::default() }
    }

    /// Finds out all about the moves of the position after `moves`, and the line from it, until it is stopped.
    /// Tells each thing when it is found.
    pub fn look(
        &mut self,
        moves: &[Move],
        limits: &Limits<'_>,
        tell: &mut dyn FnMut(Found),
    ) -> Result<(), MoveError> {
        let place = Place::after(&self.spec, moves)?;
        self.recall(moves, &place, tell);
        let mut told = None;
        let nodes = AtomicU64::new(0);
        let mut budget = FIRST_BUDGET;
        loop {
            let bounds = self.knowledge.bounds(&place);
            let proved = Proved { bounds, goal: self.goal };
            if told != Some(bounds) && self.has_line(proved) {
                let found = self.line(moves, proved, limits)?;
                let keeps_value = bounds.value().is_some();
                let found = found.map(|moves| ProvedLine { moves, keeps_value });
                found.into_iter().for_each(|found| tell(Found::Line(moves.to_vec(), found)));
                told = Some(bounds);
            }
            let spent = nodes.load(Ordering::Relaxed);
            let left = limits.nodes.map(|most| most.saturating_sub(spent));
            let open = self.open(moves, &place);
            if open.is_empty() || left == Some(0) || (limits.is_stopped)() {
                return Ok(());
            }
            // A limit is shared out among the moves that are left.
            let share = left.map(|left| left.div_ceil(open.len() as u64));
            self.round(&place, open, budget.min(share.unwrap_or(budget)), limits, &nodes, tell)?;
            budget = budget.saturating_mul(BUDGET_GROWTH);
        }
    }

    /// Tells what is known without a search: from earlier looks, and from the solve.
    fn recall(&mut self, moves: &[Move], place: &Place, tell: &mut dyn FnMut(Found)) {
        let after = place.moves.iter().map(|legal| ([moves, &[legal.mv]].concat(), legal.key));
        let all = after.chain([(moves.to_vec(), place.key)]);
        if let Some(solve) = &self.solve {
            for (moves, key) in all {
                let Some((question, efforts)) = solve.efforts_after(&moves) else { continue };
                let bounds = question.bounds(efforts, scale(&self.spec));
                let first = question.thresholds().0;
                let known = Known { bounds, first, efforts: efforts.to_vec(), nodes: 0 };
                self.knowledge.add(key, known.clone());
                tell(Found::Position(key, known));
            }
        }
        for legal in &place.moves {
            tell(Found::Position(legal.key, self.knowledge.of(legal)));
        }
    }

    /// The ways to the positions one move on whose values are not known, one for each key.
    fn open(&self, moves: &[Move], place: &Place) -> Vec<Vec<Move>> {
        let mut keys = BTreeSet::new();
        let open = place.moves.iter().filter(|legal| {
            self.knowledge.of(legal).bounds.value().is_none() && keys.insert(legal.key)
        });
        open.map(|legal| [moves, &[legal.mv]].concat()).collect()
    }

    /// Searches positions one move on, each with the same budget.
    fn round(
        &mut self,
        place: &Place,
        open: Vec<Vec<Move>>,
        budget: u64,
        limits: &Limits<'_>,
        nodes: &AtomicU64,
        tell: &mut dyn FnMut(Found),
    ) -> Result<(), MoveError> {
        let settings = SearchSettings {
            algorithm: Algorithm::Pds,
            initialisation: Initialisation::Mobility,
            max_nodes: Some(budget),
            ..SearchSettings::default()
        };
        let question = Question::Value(scale(&self.spec).bounds());
        let many = ManyPositions {
            spec: &self.spec,
            question,
            settings: &settings,
            table: &self.table,
            threads: self.threads as usize,
            is_stopped: limits.is_stopped,
            nodes,
        };
        let knowledge = &mut self.knowledge;
        many.search(open.into_iter(), |found| {
            let last = found.moves.last();
            if let Some(legal) = place.moves.iter().find(|legal| Some(&legal.mv) == last) {
                let before = knowledge.of(legal).nodes;
                let known = Known {
                    bounds: found.bounds,
                    first: question.thresholds().0,
                    efforts: found.end.findings.efforts,
                    nodes: before + found.end.statistics.nodes,
                };
                knowledge.add(legal.key, known);
                tell(Found::Position(legal.key, knowledge.of(legal)));
            }
            ControlFlow::Continue(())
        })
    }

    /// Whether so much is proved that there is a line.
    fn has_line(&self, proved: Proved) -> bool {
        let Proved { bounds, goal } = proved;
        let reached =
            |goal: Goal| bounds.verdict(goal.threshold()).map(|holds| goal.proved_when(holds));
        bounds.value().is_some() || goal.and_then(reached) == Some(true)
    }

    /// The line; of no moves if what was believed is not true. None if it was stopped.
    fn line(
        &self,
        moves: &[Move],
        proved: Proved,
        limits: &Limits<'_>,
    ) -> Result<Option<Vec<Move>>, MoveError> {
        let mut stop = StopWhen(limits.is_stopped);
        with_game!(self.spec.game(), game => {
            let mut position = position_after(game, moves)?;
            match line(game, &mut position, proved, usize::MAX, &self.table, &mut stop) {
                Ok(moves) => Ok(Some(moves)),
                Err(NoMove::Refuted) => Ok(Some(Vec::new())),
                Err(NoMove::Stopped) => Ok(None),
            }
        })
    }
}

/// Stops a search when it is to stop.
struct StopWhen<'a>(&'a (dyn Fn() -> bool + Sync));

impl Observer for StopWhen<'_> {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if (self.0)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
#[path = "looking_tests.rs"]
mod tests;
