//! What the workers do: their searches are of small jobs and remembered, and what they say of them is
//! as honest as they are.

use std::collections::HashMap;
use std::rc::Rc;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Findings, Job, Question, TranspositionTable};
use jlpns_simulate::{Behaviour, Lease, Part, Report, Search};
use jlpns_solve::Refusal;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::adversary::{Adversary, Nature};

/// The workers of a world.
pub struct Searchers {
    spec: GameSpec,
    known: HashMap<(Vec<Move>, Question, u64), Rc<Findings>>,
    adversaries: Vec<Adversary>,
    rng: StdRng,
    /// How often something was said that was not found.
    pub lies: u64,
}

impl Searchers {
    /// One worker for each nature.
    pub fn new(spec: GameSpec, natures: impl IntoIterator<Item = Nature>, seed: u64) -> Searchers {
        Searchers {
            spec,
            known: HashMap::new(),
            adversaries: natures.into_iter().map(Adversary::new).collect(),
            rng: StdRng::seed_from_u64(seed),
            lies: 0,
        }
    }

    /// What the sub-search of a job finds.
    fn run(&mut self, job: &Job) -> Rc<Findings> {
        let key = (job.moves.clone(), job.question, job.budget);
        let spec = &self.spec;
        let found = self.known.entry(key).or_insert_with(|| {
            let table = TranspositionTable::with_bytes(0).expect("no bytes are always there");
            let settings = SearchSettings {
                algorithm: job.sub_search,
                initialisation: job.initialisation,
                knowledge: job.knowledge,
                growth: Some(job.growth),
                epsilon: job.epsilon,
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
    fn is_over(&self, moves: &[Move]) -> bool {
        with_game!(self.spec.game(), game => {
            game.outcome(&position_after(game, moves).expect("a way in the game")).is_some()
        })
    }
}

impl Behaviour for Searchers {
    fn begin(&mut self, _worker: usize, lease: &Lease) -> Result<Box<dyn Search>, String> {
        let Lease { job, .. } = lease;
        let partial = self.rng.random_range(0..4) == 0;
        let half = Job { budget: 1 + job.budget / 2, ..job.clone() };
        let partial = partial.then(|| self.run(&half));
        let stopped = self.run(&Job { budget: 2, ..job.clone() });
        Ok(Box::new(Remembered { partial, found: self.run(job), stopped }))
    }

    fn search_here(&mut self, job: &Job) -> Result<Findings, String> {
        Ok((*self.run(job)).clone())
    }

    fn progress(&mut self, worker: usize, findings: Findings) -> Findings {
        self.adversaries[worker].nature.progress(&findings, &mut self.rng)
    }

    fn report(&mut self, worker: usize, life: u64, report: Rc<Report>) -> Rc<Report> {
        if self.is_over(&report.subject.moves) {
            return report;
        }
        let said = self.adversaries[worker].report(&report.findings, life, &mut self.rng);
        if said == report.findings {
            return report;
        }
        self.lies += 1;
        Rc::new(Report { findings: said, ..(*report).clone() })
    }

    fn refused(&mut self, refusal: &Refusal) {
        let expected = matches!(
            refusal,
            Refusal::Duplicate(_)
                | Refusal::UnknownLease(_)
                | Refusal::UnknownWorker(_)
                | Refusal::TooManyRefused(_)
                | Refusal::NotTheHolder(..)
                | Refusal::Quarantined { .. }
        );
        let honest = self.adversaries.iter().all(|one| one.nature == Nature::Honest);
        let unsound = matches!(refusal, Refusal::BadFindings(..)) && !honest;
        assert!(expected || unsound, "nobody sends what is unsound: {refusal}");
    }
}

/// A search of which all that it will find is known.
struct Remembered {
    /// What is told on the way.
    partial: Option<Rc<Findings>>,
    found: Rc<Findings>,
    /// What is known when it is stopped.
    stopped: Rc<Findings>,
}

impl Search for Remembered {
    fn advance(&mut self) -> Part {
        match self.partial.take() {
            Some(partial) => Part::Paused(partial.nodes, Some((*partial).clone())),
            None => Part::Ended(Ok((*self.found).clone())),
        }
    }

    fn stop(self: Box<Self>) -> Option<Findings> {
        Some((*self.stopped).clone())
    }
}
