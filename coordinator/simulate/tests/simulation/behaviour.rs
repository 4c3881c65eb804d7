//! What the workers do: their searches are of small jobs and remembered, and what they say of them is
//! as honest as they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Game, Move, with_game};
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Findings, Job, Question, SolvedPosition, TranspositionTable};
use jlpns_simulate::{Behaviour, Lease, Part, Report, Search};
use jlpns_solve::{LeaseId, Refusal, SolveSettings};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::adversary::{Adversary, Known, Nature};

/// The bytes of a worker's table.
const TABLE: u64 = 1 << 16;

/// The workers of a world.
pub struct Searchers {
    spec: GameSpec,
    known: HashMap<(Vec<Move>, Question, u64), Rc<Findings>>,
    /// What each worker has been told by others, and found with that; none where nothing is shared.
    tables: Vec<Option<TranspositionTable>>,
    workers: Vec<Adversary>,
    /// What the adversaries among them know.
    told: Rc<RefCell<Known>>,
    rng: StdRng,
    /// How often something was said that was not found, and by whom.
    pub lies: BTreeMap<Nature, u64>,
    /// Whether any worker was told that nothing is shared any more.
    pub ended_sharing: bool,
}

impl Searchers {
    /// One worker for each nature, in the solve of a position.
    pub fn new(
        settings: &SolveSettings,
        natures: impl IntoIterator<Item = Nature>,
        seed: u64,
    ) -> Searchers {
        let natures = natures.into_iter().enumerate();
        let workers: Vec<Adversary> =
            natures.map(|(index, nature)| Adversary::new(index, nature)).collect();
        let table = || {
            let table = TranspositionTable::with_bytes(TABLE).expect("so few bytes are there");
            table.keep_solved_from(1);
            table
        };
        Searchers {
            spec: settings.spec.clone(),
            known: HashMap::new(),
            tables: workers.iter().map(|_| settings.share.then(table)).collect(),
            workers,
            told: Rc::new(RefCell::new(Known::new(settings.moves.clone()))),
            rng: StdRng::seed_from_u64(seed),
            lies: BTreeMap::new(),
            ended_sharing: false,
        }
    }

    /// The table of what a worker has been told, if it searches a job with that: what is not true it could not
    /// prove.
    fn told_for(&self, worker: usize, job: &Job) -> Option<&TranspositionTable> {
        self.tables[worker].as_ref().filter(|_| !job.alone && !job.prove)
    }

    /// What a worker finds.
    fn run_at(&mut self, worker: usize, job: &Job) -> Rc<Findings> {
        match self.told_for(worker, job) {
            Some(table) => Rc::new(self.search(job, table)),
            None => self.run(job),
        }
    }

    fn search(&self, job: &Job, table: &TranspositionTable) -> Findings {
        let settings = SearchSettings::of_job(job);
        with_game!(self.spec.game(), game => {
            let mut position = position_after(game, &job.moves).expect("a way in the game");
            search(game, &mut position, job.question, &settings, table, &mut ()).findings
        })
    }

    /// What the sub-search of a job finds alone.
    fn run(&mut self, job: &Job) -> Rc<Findings> {
        let key = (job.moves.clone(), job.question, job.budget);
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        let table = TranspositionTable::with_bytes(0).expect("no bytes are always there");
        let found = Rc::new(self.search(job, &table));
        self.known.insert(key, found.clone());
        found
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
        let partial = partial.then(|| self.run_at(worker, &half));
        let stopped = self.run_at(worker, &Job { budget: 2, ..job.clone() });
        let (lease, told) = (*id, self.told.clone());
        let found = self.run_at(worker, job);
        let hearsay = self.told_for(worker, job).is_some();
        Ok(Box::new(Remembered { lease, partial, found, stopped, hearsay, told }))
    }

    fn learn(&mut self, worker: usize, solved: &[SolvedPosition]) {
        if let Some(table) = &self.tables[worker] {
            solved.iter().for_each(|solved| table.learn(solved));
        }
    }

    fn end_sharing(&mut self, worker: usize) {
        self.tables[worker] = None;
        self.ended_sharing = true;
    }

    fn take_solved(&mut self, worker: usize) -> Vec<SolvedPosition> {
        let mut solved =
            self.tables[worker].as_ref().map(TranspositionTable::take_solved).unwrap_or_default();
        let nature = self.workers[worker].nature;
        if nature == Nature::Poisoning && self.rng.random_range(0..4) == 0 {
            solved.iter_mut().for_each(|solved| solved.holds = !solved.holds);
            *self.lies.entry(nature).or_default() += u64::from(!solved.is_empty());
        }
        solved
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
    /// Whether its worker had been told anything.
    hearsay: bool,
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

    fn rests_on_hearsay(&self) -> bool {
        self.hearsay
    }

    fn stop(self: Box<Self>) -> Option<Findings> {
        self.told.borrow_mut().called_back.insert(self.lease);
        Some((*self.stopped).clone())
    }
}
