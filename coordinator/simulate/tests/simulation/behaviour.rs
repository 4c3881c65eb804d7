//! What the workers do: their searches are of small jobs and remembered, and what they say of them is
//! as honest as they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Findings, Job, Question, TranspositionTable};
use jlpns_simulate::{Behaviour, Lease, Part, Report, Search};
use jlpns_solve::{LeaseId, Refusal, SolveSettings};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::adversary::{Adversary, Known, Nature};

/// The workers of a world.
pub struct Searchers {
    spec: GameSpec,
    known: HashMap<(Vec<Move>, Question, u64), Rc<Findings>>,
    workers: Vec<Adversary>,
    /// What the adversaries among them know.
    told: Rc<RefCell<Known>>,
    rng: StdRng,
    /// How often something was said that was not found, and by whom.
    pub lies: BTreeMap<Nature, u64>,
}

impl Searchers {
    /// One worker for each nature, in the solve of a position.
    pub fn new(
        settings: &SolveSettings,
        natures: impl IntoIterator<Item = Nature>,
        seed: u64,
    ) -> Searchers {
        let natures = natures.into_iter().enumerate();
        Searchers {
            spec: settings.spec.clone(),
            known: HashMap::new(),
            workers: natures.map(|(index, nature)| Adversary::new(index, nature)).collect(),
            told: Rc::new(RefCell::new(Known::new(settings.moves.clone()))),
            rng: StdRng::seed_from_u64(seed),
            lies: BTreeMap::new(),
        }
    }

    /// What the sub-search of a job finds.
    fn run(&mut self, job: &Job) -> Rc<Findings> {
        let key = (job.moves.clone(), job.question, job.budget);
        let spec = &self.spec;
        let found = self.known.entry(key).or_insert_with(|| {
            let table = TranspositionTable::with_bytes(0).expect("no bytes are always there");
            let settings = SearchSettings::of_job(job);
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
    fn begin(&mut self, worker: usize, lease: &Lease) -> Result<Box<dyn Search>, String> {
        let Lease { id, job, .. } = lease;
        self.told.borrow_mut().note_lease(worker, lease);
        let partial = self.rng.random_range(0..4) == 0;
        let half = Job { budget: 1 + job.budget / 2, ..job.clone() };
        let partial = partial.then(|| self.run(&half));
        let stopped = self.run(&Job { budget: 2, ..job.clone() });
        let (lease, told) = (*id, self.told.clone());
        Ok(Box::new(Remembered { lease, partial, found: self.run(job), stopped, told }))
    }

    fn search_here(&mut self, job: &Job) -> Result<Findings, String> {
        Ok((*self.run(job)).clone())
    }

    fn progress(&mut self, worker: usize, findings: Findings) -> Findings {
        let nature = self.workers[worker].nature;
        let said = nature.progress(&findings, &mut self.rng);
        *self.lies.entry(nature).or_default() += u64::from(said != findings);
        said
    }

    fn report(&mut self, worker: usize, life: u64, report: Rc<Report>) -> Rc<Report> {
        let mut told = self.told.borrow_mut();
        let said = if self.is_over(&report.subject.moves) {
            (*report).clone()
        } else {
            self.workers[worker].report(&report, life, &told, &mut self.rng)
        };
        // Nobody can make a certificate of what is not so; a liar sends one all the same, or none.
        let mut said = said;
        if said.findings.efforts != report.findings.efforts || said.subject != report.subject {
            said.certificate = [None, Some(false)][self.rng.random_range(0..2)];
        }
        told.note_report(&said);
        if said == *report {
            return report;
        }
        *self.lies.entry(self.workers[worker].nature).or_default() += 1;
        Rc::new(said)
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
        let honest = self.workers.iter().all(|one| one.nature == Nature::Honest);
        let unsound = matches!(refusal, Refusal::BadFindings(..) | Refusal::ForeignSubject(_));
        assert!(expected || unsound && !honest, "nobody sends what is unsound: {refusal}");
    }
}

/// A search of which all that it will find is known.
struct Remembered {
    lease: LeaseId,
    /// What is told on the way.
    partial: Option<Rc<Findings>>,
    found: Rc<Findings>,
    /// What is known when it is stopped.
    stopped: Rc<Findings>,
    /// Who is told that it was stopped.
    told: Rc<RefCell<Known>>,
}

impl Search for Remembered {
    fn advance(&mut self) -> Part {
        match self.partial.take() {
            Some(partial) => Part::Paused(partial.nodes, Some((*partial).clone())),
            None => Part::Ended(Ok((*self.found).clone())),
        }
    }

    fn stop(self: Box<Self>) -> Option<Findings> {
        self.told.borrow_mut().called_back.insert(self.lease);
        Some((*self.stopped).clone())
    }
}
