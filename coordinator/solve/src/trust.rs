//! Whom to believe: a share of what workers claim to have solved is searched again by others, as
//! in BOINC's adaptive replication.
//!
//! A report that settles a threshold makes a claim. The claims of a new worker are all rechecked,
//! until ten are confirmed; then one in a hundred is, or whatever share is asked for. If the
//! second worker contradicts, a third one decides, and who is alone with its result is
//! quarantined: it gets no more leases, and its reports since the last confirmed one do not count.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::Move;
use jlpns_search::{EffortPair, Findings, Question};

use super::event::LeaseId;
use super::open_claims::OpenClaims;
use super::record::Report;

/// A worker is proven when so many of its claims are confirmed.
const PROVEN: u32 = 10;
/// A worker is quarantined when so many of its reports break the properties of effort numbers.
pub const REFUSED_TOO_OFTEN: u32 = 5;
/// A recheck may take so many times the nodes that the claim took by its own word. Whoever lies
/// about that gains nothing: a recheck that ends at its budget is done again with a larger one.
const RECHECK_FACTOR: u64 = 2;
/// How much larger the budget is each time.
const RECHECK_GROWTH: u64 = 4;
const RECHECK_LEAST: u64 = 10_000;

/// What is held of one worker, by its name: a worker that reconnects is the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// Claims that another worker has confirmed.
    pub confirmed: u32,
    /// Reports refused.
    pub refused: u32,
    /// The number of its last confirmed report.
    pub confirmed_through: u64,
    /// The number of its last report that counts.
    pub last_report: u64,
    /// The number of its last report that settled something.
    pub last_claim: u64,
    /// If it is quarantined: its reports with higher numbers do not count.
    pub quarantined: Option<u64>,
}

/// That the value after some moves reaches some thresholds, and others not.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The number of the report.
    pub number: u64,
    /// Who claims it.
    pub worker: String,
    /// The moves from the start of the game.
    pub moves: Vec<Move>,
    /// What was asked.
    pub question: Question,
    /// For each threshold asked, whether it is said to be reached, if that is said.
    pub verdicts: Vec<Option<bool>>,
    /// The budget of the next recheck, in nodes.
    pub budget: u64,
    /// Who contradicts.
    pub against: Option<String>,
    /// The lease of the recheck that is out.
    out: Option<LeaseId>,
}

impl Claim {
    /// A claim that nobody has searched again.
    pub fn new(
        number: u64,
        worker: String,
        (moves, question): (Vec<Move>, Question),
        verdicts: Vec<Option<bool>>,
        budget: u64,
    ) -> Claim {
        let (against, out) = (None, None);
        Claim { number, worker, moves, question, verdicts, budget, against, out }
    }

    /// Whether a search of the same position agrees; `None` if it leaves something open.
    fn agrees(&self, found: &Findings) -> Option<bool> {
        let mut left_open = false;
        for (said, pair) in self.verdicts.iter().zip(&found.efforts) {
            match (said, pair.verdict()) {
                (Some(said), Some(holds)) if *said != holds => return Some(false),
                (Some(_), None) => left_open = true,
                _ => {}
            }
        }
        (!left_open).then_some(true)
    }

    /// Whether `worker` may search it again: it is neither of the parties.
    fn is_for(&self, worker: &str) -> bool {
        self.worker != worker && self.against.as_deref() != Some(worker)
    }
}

/// What follows from a recheck.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Nothing yet.
    Open,
    /// The claim is confirmed.
    Confirmed(Claim),
    /// Somebody else is needed to decide.
    Disputed {
        /// The claim.
        claim: Claim,
        /// Who contradicts it.
        against: String,
    },
    /// This worker reported what is not true.
    Liar {
        /// Its name.
        worker: String,
        /// The claim, if it was the one who contradicted it.
        confirmed: Option<Claim>,
    },
}

/// What is held of all workers, and the claims that wait to be rechecked.
#[derive(Debug)]
pub struct Trust {
    /// The share of the claims of proven workers that is rechecked, from 0 to 1; 0 switches all
    /// rechecks off.
    share: f64,
    standings: BTreeMap<String, Standing>,
    claims: BTreeMap<u64, Claim>,
    /// The claims whose recheck is not out.
    open: OpenClaims,
    /// The last claim of each worker that is not confirmed, for when a snapshot is to be settled.
    last_claims: BTreeMap<String, Claim>,
    confirmed: u64,
    disputes: u64,
}

impl Trust {
    /// A ledger without workers.
    pub fn new(share: f64) -> Trust {
        Trust {
            share,
            standings: BTreeMap::new(),
            claims: BTreeMap::new(),
            open: OpenClaims::default(),
            last_claims: BTreeMap::new(),
            confirmed: 0,
            disputes: 0,
        }
    }

    /// What is held of each worker.
    pub fn standings(&self) -> impl Iterator<Item = (&String, &Standing)> {
        self.standings.iter()
    }

    /// The claims that wait.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.values()
    }

    /// Takes over a claim that waits.
    pub fn restore_claim(&mut self, claim: Claim) {
        self.insert(Claim { out: None, ..claim });
    }

    /// Takes over what was held of a worker.
    pub fn restore(&mut self, worker: String, standing: Standing) {
        self.standings.insert(worker, standing);
    }

    /// How many claims were confirmed.
    pub fn confirmed(&self) -> u64 {
        self.confirmed
    }

    /// How many claims were contradicted.
    pub fn disputes(&self) -> u64 {
        self.disputes
    }

    /// How many claims wait to be rechecked.
    pub fn pending(&self) -> usize {
        self.claims.len()
    }

    /// The workers that are quarantined.
    pub fn quarantined(&self) -> impl Iterator<Item = &String> {
        let out = self.standings.iter().filter(|(_, standing)| standing.quarantined.is_some());
        out.map(|(name, _)| name)
    }

    /// Whether a worker is quarantined.
    pub fn is_quarantined(&self, worker: &str) -> bool {
        self.standings.get(worker).is_some_and(|standing| standing.quarantined.is_some())
    }

    /// Whether the report with this number does not count.
    pub fn is_excluded(&self, worker: &str, number: u64) -> bool {
        let quarantined = self.standings.get(worker).and_then(|standing| standing.quarantined);
        quarantined.is_some_and(|after| number > after)
    }

    /// Notes a refused report; whether there were too many.
    pub fn note_refused(&mut self, worker: &str) -> bool {
        let standing = self.standing(worker);
        standing.refused += 1;
        standing.refused >= REFUSED_TOO_OFTEN && standing.quarantined.is_none()
    }

    /// Notes a report that counts, and makes its claim if it is to be rechecked.
    pub fn note_report(&mut self, number: u64, report: &Report) {
        if self.share <= 0.0 {
            return;
        }
        self.standing(&report.worker).last_report = number;
        let Some((moves, verdicts)) = claimed(number, report) else { return };
        let budget = report.findings.nodes.saturating_mul(RECHECK_FACTOR).max(RECHECK_LEAST);
        let asked = (moves, report.question);
        let claim = Claim::new(number, report.worker.clone(), asked, verdicts, budget);
        let standing = self.standing(&report.worker);
        standing.last_claim = number;
        if standing.confirmed < PROVEN || fraction(number) < self.share {
            self.insert(claim.clone());
        }
        self.last_claims.insert(report.worker.clone(), claim);
    }

    fn insert(&mut self, claim: Claim) {
        if self.claims.contains_key(&claim.number) {
            return;
        }
        self.open.insert(&claim);
        self.claims.insert(claim.number, claim);
    }

    /// Drops a claim without a verdict.
    pub fn remove(&mut self, number: u64) -> Option<Claim> {
        let claim = self.claims.remove(&number)?;
        self.open.remove(&claim);
        Some(claim)
    }

    /// Changes a claim, and with it whether it is open.
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Claim)) {
        let Some(claim) = self.claims.get_mut(&number) else { return };
        self.open.remove(claim);
        change(claim);
        if claim.out.is_none() {
            self.open.insert(claim);
        }
    }

    /// Has the last claim of each worker rechecked that has reported since its last confirmed one:
    /// what came before is then settled. Gives the workers and the numbers that are waited for.
    pub fn settle(&mut self) -> BTreeMap<String, u64> {
        let waited: BTreeMap<String, u64> = self
            .standings
            .iter()
            .filter(|(_, s)| s.quarantined.is_none() && s.confirmed_through < s.last_claim)
            .map(|(name, standing)| (name.clone(), standing.last_claim))
            .collect();
        for name in waited.keys() {
            if let Some(claim) = self.last_claims.get(name) {
                self.insert(claim.clone());
            }
        }
        waited
    }

    /// Whether a claim waits for somebody to search it again.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next claim that `worker` can search again.
    pub fn claim_for(&self, worker: &str) -> Option<&Claim> {
        self.open.next_for(worker).map(|number| &self.claims[&number])
    }

    /// Whether one of `workers` can still decide something.
    pub fn can_go_on(&self, workers: &BTreeSet<&str>) -> bool {
        let decidable = |claim: &Claim| workers.iter().any(|worker| claim.is_for(worker));
        self.claims.values().any(|claim| claim.out.is_some() || decidable(claim))
    }

    /// Whether two workers contradict each other and nobody has decided.
    pub fn has_disputes(&self) -> bool {
        self.claims.values().any(|claim| claim.against.is_some())
    }

    /// Notes that a recheck is out.
    pub fn lease(&mut self, number: u64, lease: LeaseId) {
        self.change(number, |claim| claim.out = Some(lease));
    }

    /// Notes that a recheck was lost, without a result.
    pub fn give_back(&mut self, number: u64, lease: LeaseId) {
        self.change(number, |claim| {
            if claim.out == Some(lease) {
                claim.out = None;
            }
        });
    }

    /// Takes in what `worker` found when it searched a claim again.
    pub fn decide(&mut self, number: u64, worker: &str, found: &Findings) -> Finding {
        let Some(claim) = self.claims.get(&number).cloned() else { return Finding::Open };
        if !claim.is_for(worker) {
            self.change(number, |claim| claim.out = None);
            return Finding::Open;
        }
        let Some(agrees) = claim.agrees(found) else {
            self.change(number, |claim| {
                claim.out = None;
                claim.budget = claim.budget.saturating_mul(RECHECK_GROWTH);
            });
            return Finding::Open;
        };
        match claim.against.clone() {
            None if agrees => {
                self.remove(number);
                Finding::Confirmed(claim)
            }
            None => {
                self.disputes += 1;
                self.change(number, |claim| {
                    (claim.out, claim.against) = (None, Some(worker.to_owned()));
                });
                Finding::Disputed { claim, against: worker.to_owned() }
            }
            Some(against) => {
                self.remove(number);
                if agrees {
                    Finding::Liar { worker: against, confirmed: Some(claim) }
                } else {
                    Finding::Liar { worker: claim.worker, confirmed: None }
                }
            }
        }
    }

    /// Notes that a worker's report is confirmed.
    pub fn confirm(&mut self, worker: &str, number: u64) {
        self.remove(number);
        self.confirmed += 1;
        let standing = self.standing(worker);
        standing.confirmed += 1;
        standing.confirmed_through = standing.confirmed_through.max(number);
        if self.last_claims.get(worker).is_some_and(|claim| claim.number <= number) {
            self.last_claims.remove(worker);
        }
    }

    /// Puts a worker into quarantine; its reports after `after` do not count.
    pub fn quarantine(&mut self, worker: &str, after: u64) {
        self.standing(worker).quarantined = Some(after);
        self.last_claims.remove(worker);
        for (number, claim) in self.claims.clone() {
            if claim.worker == worker {
                self.remove(number);
            } else if claim.against.as_deref() == Some(worker) {
                // What it contradicted is open again.
                self.change(number, |claim| claim.against = None);
            }
        }
    }

    /// What is held of a worker.
    pub fn of(&self, worker: &str) -> Standing {
        self.standings.get(worker).cloned().unwrap_or_default()
    }

    /// Whether claims are rechecked at all.
    pub fn rechecks(&self) -> bool {
        self.share > 0.0
    }

    fn standing(&mut self, worker: &str) -> &mut Standing {
        if !self.standings.contains_key(worker) {
            self.standings.insert(worker.to_owned(), Standing::default());
        }
        self.standings.get_mut(worker).expect("it was added if it was missing")
    }
}

/// What a report claims: of its own position if it settles something there, else of one of the
/// positions one move on.
fn claimed(number: u64, report: &Report) -> Option<(Vec<Move>, Vec<Option<bool>>)> {
    let verdicts = |efforts: &[EffortPair]| {
        let verdicts: Vec<Option<bool>> = efforts.iter().map(|pair| pair.verdict()).collect();
        verdicts.iter().any(Option::is_some).then_some(verdicts)
    };
    if let Some(verdicts) = verdicts(&report.findings.efforts) {
        return Some((report.moves.clone(), verdicts));
    }
    let below = report.findings.children.iter();
    let below: Vec<_> =
        below.filter_map(|child| Some((child.mv, verdicts(&child.efforts)?))).collect();
    let (mv, verdicts) = below.get(scatter(number) as usize % below.len().max(1))?.clone();
    Some(([&report.moves[..], &[mv]].concat(), verdicts))
}

/// A number that looks random, and is the same each time.
fn scatter(number: u64) -> u64 {
    // The finaliser of splitmix64.
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The same as a number from 0 to 1.
fn fraction(number: u64) -> f64 {
    scatter(number) as f64 / u64::MAX as f64
}
