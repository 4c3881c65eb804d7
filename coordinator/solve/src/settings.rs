//! What is to be solved, and how.

use std::time::Duration;

use jlpns_games::spec::GameSpec;
use jlpns_games::{Goal, Move, OutcomeScale};
use jlpns_search::graph::{GraphSettings, Selection};
use jlpns_search::search::{EPSILON, Growth};
use jlpns_search::{Algorithm, Initialisation, Question};

use crate::belief::{BeliefSettings, Confirm};
use crate::positions::AskedPosition;

/// A second sub-search, whose jobs run beside those of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// The sub-search.
    pub sub_search: Algorithm,
    /// How it sizes its second level.
    pub growth: Growth,
    /// How many nodes it creates in the time in which the first creates one, about.
    pub speed: f64,
}

impl Beside {
    /// How many nodes it creates in about the time in which the first creates so many.
    pub fn nodes(&self, of_first: u64) -> u64 {
        ((of_first as f64 * self.speed) as u64).max(1)
    }
}

/// What is to be solved, and how.
#[derive(Clone, Debug)]
pub struct SolveSettings {
    /// The game.
    pub spec: GameSpec,
    /// The moves to the position to solve.
    pub moves: Vec<Move>,
    /// What to prove; without a goal, the value is found.
    pub goal: Option<Goal>,
    /// The sub-search of the jobs.
    pub sub_search: Algorithm,
    /// A second one beside it, on the same tree: the more jobs run it, the more of them settle their nodes.
    pub beside: Option<Beside>,
    /// How new frontier nodes start, in the tree and in the jobs.
    pub initialisation: Initialisation,
    /// Whether the tree and the jobs ask the game for more than its rules.
    pub knowledge: bool,
    /// How two-level sub-searches size their second level; as in their papers, if `None`.
    pub growth: Option<Growth>,
    /// The epsilon of df-pn's 1 + epsilon rule in the jobs.
    pub epsilon: f64,
    /// Whether the top-level tree merges positions that are reached in several ways.
    pub merge: bool,
    /// How frontier nodes are selected while others are out.
    pub selection: Selection,
    /// The most nodes that a job may create before it reports.
    pub job_nodes: u64,
    /// How many jobs a second all slots together may finish: jobs grow beyond `job_nodes` to keep to
    /// it. `None` if they may not.
    pub most_jobs_a_second: Option<u64>,
    /// Whether workers get leases ahead of their free slots where the way of messages is a good part of
    /// the time of a job. In one process there is no way.
    pub leases_ahead: bool,
    /// How many workers must have joined before the first job goes out.
    pub await_workers: usize,
    /// The bytes that the top-level tree may take.
    pub memory: u64,
    /// How long a lease lasts without a heartbeat.
    pub lease_length: Duration,
    /// How often a worker sends a partial report on a long job.
    pub report_interval: Duration,
    /// How long a lease lasts without progress of its search; several report intervals.
    pub stall_after: Duration,
    /// How much of what machines claim is searched again by another one.
    pub belief: BeliefSettings,
    /// How many searches the coordinator runs at a time to confirm an answer itself.
    pub own_searches: usize,
    /// Whether what one worker's searches have solved goes into the tables of the others, as long as nothing
    /// contradicts it.
    pub share: bool,
    /// Many positions to be answered each by a search of its own, instead of the one that the moves lead to. More may
    /// be asked for later on.
    pub positions: Option<Vec<AskedPosition>>,
    /// What leases are sealed with in a new solve: a secret, and not 0.
    pub secret: u128,
    /// Whether there is a journal: then a report counts when its record is durable.
    pub journal: bool,
    /// The least number of records between two snapshots: those that are read in about a second.
    pub snapshot_records: u64,
    /// How many places for nodes are looked at in a slice of a snapshot, at the least: that takes some
    /// milliseconds.
    /// A tree is gone through twice.
    pub snapshot_slice: usize,
}

impl SolveSettings {
    /// What every solve begins with, of the position at the start of a game: its value is found by
    /// PDS jobs on a graph, nobody has to be confirmed, and nothing is kept.
    pub fn new(spec: GameSpec) -> SolveSettings {
        SolveSettings {
            spec,
            moves: Vec::new(),
            goal: None,
            sub_search: Algorithm::Pds,
            beside: None,
            initialisation: Initialisation::Mobility,
            knowledge: true,
            growth: None,
            epsilon: EPSILON,
            merge: true,
            selection: Selection::Locking,
            job_nodes: 20_000,
            most_jobs_a_second: None,
            leases_ahead: false,
            await_workers: 1,
            memory: 1 << 30,
            lease_length: Duration::from_secs(30),
            report_interval: Duration::from_secs(2),
            stall_after: Duration::from_secs(120),
            belief: BeliefSettings { confirm: Confirm::None, sample: 0.01, seed: 1 },
            own_searches: 1,
            share: false,
            positions: None,
            secret: 1,
            journal: false,
            snapshot_records: 50_000,
            snapshot_slice: 1 << 16,
        }
    }

    /// What is asked of the root.
    pub(super) fn question(&self, scale: &OutcomeScale) -> Question {
        match self.goal {
            Some(goal) => Question::Threshold(goal.threshold()),
            None => Question::Value(scale.bounds()),
        }
    }

    /// The names of the sub-searches of its jobs, for people.
    pub(super) fn names_of_sub_searches(&self) -> String {
        match self.beside {
            Some(beside) => format!("{} and {}", self.sub_search, beside.sub_search),
            None => self.sub_search.to_string(),
        }
    }

    /// How the jobs size their second level.
    pub(super) fn growth(&self) -> Growth {
        self.growth.unwrap_or(Growth::of(self.sub_search))
    }

    pub(super) fn graph(&self) -> GraphSettings {
        GraphSettings {
            initialisation: self.initialisation,
            merge: self.merge,
            selection: self.selection,
            memory: self.memory,
            knowledge: self.knowledge,
            // Alpha-beta's reports say nothing of what is not solved.
            ranked: self.beside.is_some() || self.sub_search == Algorithm::AlphaBeta,
        }
    }
}
