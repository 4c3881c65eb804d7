//! A virtual worker: takes leases, searches, reports, and keeps what is not acknowledged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Findings, Job, Question, TranspositionTable};
use jlpns_solve::{LeaseId, Subject, WorkerId};

use crate::adversary::Nature;

/// A report on its way.
#[derive(Clone)]
pub struct Filed {
    pub lease: LeaseId,
    pub subject: Subject,
    pub findings: Rc<Findings>,
}

/// A search that runs.
#[derive(Clone)]
pub struct Running {
    pub job: Job,
    /// Whether it was called back.
    pub stopped: bool,
    /// Whether it never ends by itself.
    pub stuck: bool,
    /// The seal of the lease.
    pub seal: u64,
}

/// A worker's process, from one crash to the next, and what outlives it.
pub struct Worker {
    pub name: String,
    pub slots: u32,
    /// The machine that it runs on; others may run there too.
    pub machine: String,
    /// What it does with what it finds.
    pub nature: Nature,
    /// How often it has reported what it did not find, in all its processes.
    pub lies: u64,
    /// How often its present process has reported.
    pub reports: u64,
    /// Whether the coordinator will not have it any more.
    pub refused: bool,
    /// Whether it has been told that the solve is over.
    pub done: bool,
    pub alive: bool,
    /// Counts its processes.
    pub instance: u64,
    pub connection: Option<WorkerId>,
    pub running: BTreeMap<LeaseId, Running>,
    pub unacknowledged: BTreeMap<LeaseId, Filed>,
    /// Leases that it has heard of: none comes twice to one process.
    pub seen: BTreeSet<LeaseId>,
}

impl Worker {
    pub fn new(name: String, slots: u32) -> Worker {
        Worker {
            machine: name.clone(),
            name,
            slots,
            nature: Nature::Honest,
            lies: 0,
            reports: 0,
            refused: false,
            done: false,
            alive: true,
            instance: 1,
            connection: None,
            running: BTreeMap::new(),
            unacknowledged: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// The process is killed: all that it held is gone.
    pub fn die(&mut self) {
        self.alive = false;
        self.connection = None;
        self.running.clear();
        self.unacknowledged.clear();
        self.seen.clear();
        self.reports = 0;
        self.instance += 1;
    }
}

/// Runs jobs, and remembers what came out.
pub struct Searcher {
    spec: GameSpec,
    known: HashMap<(Vec<Move>, Question, u64), Rc<Findings>>,
}

impl Searcher {
    pub fn new(spec: GameSpec) -> Searcher {
        Searcher { spec, known: HashMap::new() }
    }

    /// What the sub-search of a job finds.
    pub fn run(&mut self, job: &Job) -> Rc<Findings> {
        let key = (job.moves.clone(), job.question, job.budget);
        let spec = &self.spec;
        let found = self.known.entry(key).or_insert_with(|| {
            let table = TranspositionTable::with_bytes(0).expect("no bytes are always there");
            let settings = SearchSettings {
                algorithm: job.sub_search,
                initialisation: job.initialisation,
                knowledge: job.knowledge,
                max_nodes: Some(job.budget),
                ..SearchSettings::default()
            };
            Rc::new(with_game!(spec.game(), game => {
                let mut position = position_after(game, &job.moves).expect("a way in the game");
                search(game, &mut position, job.question, &settings, &table, &mut ()).findings
            }))
        });
        found.clone()
    }

    /// Whether the game is over after some moves.
    pub fn is_over(&self, moves: &[Move]) -> bool {
        with_game!(self.spec.game(), game => {
            game.outcome(&position_after(game, moves).expect("a way in the game")).is_some()
        })
    }
}
