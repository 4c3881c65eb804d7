//! Workers that do not say what they found: not all the time, not everywhere, and not alone.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::Move;
use jlpns_search::{EffortPair, Findings};
use jlpns_simulate::{Lease, Report};
use jlpns_solve::LeaseId;
use rand::RngExt;
use rand::rngs::StdRng;

/// What a worker does with what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nature {
    /// It says it.
    #[default]
    Honest,
    /// It always says the contrary.
    Contrary,
    /// It says the contrary now and then, and then the truth of the same again: bad memory.
    NowAndThen,
    /// It says the contrary once, in its first report that settles something.
    Once,
    /// It is wrong about one child of those that it settles, and right about the rest.
    OneChild,
    /// It is wrong about all children, and right about the position.
    AllChildren,
    /// It is wrong about one threshold of those that it settles.
    OneThreshold,
    /// It settles what is open, and calls the position proved for whoever asks.
    Inventive,
    /// It lies in partial reports only, and says at the end what it found.
    InProgress,
    /// It is honest until it is trusted, and lies then.
    Late,
    /// It is honest but about jobs that were called back.
    CalledBack,
    /// It is honest until it has been started anew.
    AfterRestart,
    /// It is honest until the coordinator has been started anew, and then lies also about what it
    /// had found before.
    AfterOtherRestart,
    /// It is honest but about the root and its children: with one report the solve would end.
    AtTheEnd,
    /// It says of a position that it is proved, and the next time that it is disproved.
    BothWays,
    /// It is honest but about what others have settled, and says the contrary of that.
    WhenAskedAgain,
    /// It says of what others have settled what they said, and invents the rest.
    Confirming,
    /// It reports what is leased to others.
    ForOthers,
    /// It says the contrary, and that it took next to no work, or more than it could do.
    Boastful,
    /// It searches at most one node each time and counts on and on.
    Counting,
    /// It reports what it finds, and tells the others now and then what is not true.
    Poisoning,
    /// It says the contrary, and that it has it from others; but what it was asked to search alone it did so.
    Disclaiming,
}

/// Those that need others to listen.
pub const WHERE_SHARED: [Nature; 2] = [Nature::Poisoning, Nature::Disclaiming];

/// All but these and the honest.
pub const ADVERSARIES: [Nature; 19] = [
    Nature::Contrary,
    Nature::NowAndThen,
    Nature::Once,
    Nature::OneChild,
    Nature::AllChildren,
    Nature::OneThreshold,
    Nature::Inventive,
    Nature::InProgress,
    Nature::Late,
    Nature::CalledBack,
    Nature::AfterRestart,
    Nature::AfterOtherRestart,
    Nature::AtTheEnd,
    Nature::BothWays,
    Nature::WhenAskedAgain,
    Nature::Confirming,
    Nature::ForOthers,
    Nature::Boastful,
    Nature::Counting,
];

/// Reports after which one that is late begins to lie.
const TRUSTED_AFTER: u64 = 15;

/// More nodes than any search creates.
const BOASTS: [u64; 3] = [1, 1 << 53, u64::MAX];

/// What all adversaries of a world know.
pub struct Known {
    /// The way to the root of the solve.
    pub root: Vec<Move>,
    /// What has been reported of each position.
    said: BTreeMap<Vec<Move>, Vec<EffortPair>>,
    /// What is leased, and to which worker.
    leased: BTreeMap<LeaseId, (usize, Lease)>,
    /// The leases that were called back.
    pub called_back: BTreeSet<LeaseId>,
}

impl Known {
    pub fn new(root: Vec<Move>) -> Known {
        let (said, leased, called_back) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Known { root, said, leased, called_back }
    }

    /// A worker has taken a lease.
    pub fn note_lease(&mut self, worker: usize, lease: &Lease) {
        self.leased.insert(lease.id, (worker, lease.clone()));
    }

    /// A worker has reported.
    pub fn note_report(&mut self, report: &Report) {
        self.leased.remove(&report.lease);
        let Findings { efforts, children, .. } = &report.findings;
        let moves = &report.subject.moves;
        if efforts.iter().any(|pair| pair.is_solved()) {
            self.said.insert(moves.clone(), efforts.clone());
        }
        for child in children.iter().filter(|child| child.efforts.iter().any(|p| p.is_solved())) {
            self.said.insert(below(moves, child.mv), child.efforts.clone());
        }
    }

    /// Whether the coordinator has been started anew.
    fn is_another_life(&self) -> bool {
        self.leased.keys().next_back().is_some_and(|lease| lease.0 >> 32 > 0)
    }

    /// A lease of somebody else.
    fn of_another(&self, worker: usize, rng: &mut StdRng) -> Option<&Lease> {
        let others: Vec<&Lease> = self
            .leased
            .values()
            .filter_map(|(holder, lease)| (*holder != worker).then_some(lease))
            .collect();
        (!others.is_empty()).then(|| others[rng.random_range(0..others.len())])
    }
}

/// A worker as its nature has it.
pub struct Adversary {
    pub nature: Nature,
    /// Its place among the workers.
    worker: usize,
    /// How often it has reported what it did not find, in all its processes.
    lies: u64,
    /// How often its present process has reported, and which one that is.
    reports: u64,
    life: u64,
    /// What it said last of positions.
    said: BTreeMap<Vec<Move>, bool>,
}

impl Adversary {
    pub fn new(worker: usize, nature: Nature) -> Adversary {
        Adversary { nature, worker, lies: 0, reports: 0, life: 0, said: BTreeMap::new() }
    }

    /// What it reports that should report this, in the process with this number.
    pub fn report(
        &mut self,
        report: &Report,
        life: u64,
        known: &Known,
        rng: &mut StdRng,
    ) -> Report {
        if self.life != life {
            (self.life, self.reports) = (life, 0);
        }
        self.reports += 1;
        let mut said = report.clone();
        if self.nature == Nature::ForOthers
            && let Some(lease) = known.of_another(self.worker, rng)
        {
            said.lease = lease.id;
            said.subject.moves = lease.job.moves.clone();
            said.subject.question = lease.job.question;
            said.subject.budget = lease.job.budget;
            said.subject.seal = lease.seal;
            let efforts = vec![EffortPair::UNIT; lease.job.question.thresholds().1];
            let open = Findings {
                efforts,
                children: Vec::new(),
                most_proving_move: None,
                ..said.findings
            };
            said.findings = proved(&open, rng.random_range(0..2) == 0);
        } else {
            said.findings = self.says(report, known, rng);
        }
        if WHERE_SHARED.contains(&self.nature) {
            let alone = known.leased.get(&report.lease).is_none_or(|(_, lease)| lease.job.alone);
            said.hearsay = match self.nature {
                Nature::Disclaiming => !alone,
                // What it has from others it may call its own.
                _ => report.hearsay && rng.random_range(0..4) > 0,
            };
        }
        self.lies += u64::from(said != *report);
        said
    }

    fn says(&mut self, report: &Report, known: &Known, rng: &mut StdRng) -> Findings {
        let (found, moves) = (&report.findings, &report.subject.moves);
        let any = |rng: &mut StdRng| rng.random_range(0..2) == 0;
        match self.nature {
            Nature::Contrary | Nature::Disclaiming => contrary(found),
            Nature::NowAndThen if rng.random_range(0..4) == 0 => contrary(found),
            Nature::Once if self.lies == 0 => contrary(found),
            Nature::OneChild => wrong_about_one_child(found, rng),
            Nature::AllChildren => Findings { efforts: found.efforts.clone(), ..contrary(found) },
            Nature::OneThreshold => wrong_about_one_threshold(found),
            Nature::Inventive => proved(found, any(rng)),
            Nature::Late if self.reports >= TRUSTED_AFTER => contrary(found),
            Nature::CalledBack if known.called_back.contains(&report.lease) => {
                proved(found, any(rng))
            }
            Nature::AfterRestart if self.life > 1 => contrary(found),
            Nature::AfterOtherRestart if known.is_another_life() => contrary(found),
            Nature::AtTheEnd if *moves == known.root => proved(&contrary(found), any(rng)),
            Nature::AtTheEnd if moves.len() == known.root.len() + 1 => contrary(found),
            Nature::BothWays => self.says_both(found, moves, rng),
            Nature::WhenAskedAgain => known
                .said
                .get(moves)
                .map_or_else(|| found.clone(), |said| with_efforts(found, flipped(said))),
            Nature::Confirming => known
                .said
                .get(moves)
                .map_or_else(|| proved(found, any(rng)), |said| with_efforts(found, said.clone())),
            Nature::Boastful => {
                Findings { nodes: BOASTS[rng.random_range(0..BOASTS.len())], ..contrary(found) }
            }
            _ => found.clone(),
        }
    }

    /// The position and its children, each the other way than the last time.
    fn says_both(&mut self, found: &Findings, moves: &[Move], rng: &mut StdRng) -> Findings {
        let mut turn = |moves: Vec<Move>, efforts: &mut Vec<EffortPair>| {
            if rng.random_range(0..3) == 0 {
                let holds = self.said.entry(moves).or_default();
                *holds = !*holds;
                *efforts = vec![EffortPair::solved(*holds); efforts.len()];
            }
        };
        let mut lie = found.clone();
        turn(moves.to_vec(), &mut lie.efforts);
        lie.children.iter_mut().for_each(|child| turn(below(moves, child.mv), &mut child.efforts));
        lie
    }
}

impl Nature {
    /// What a worker says on its way to `found`.
    pub fn progress(self, found: &Findings, rng: &mut StdRng) -> Findings {
        match self {
            Nature::InProgress | Nature::Inventive => proved(found, rng.random_range(0..2) == 0),
            Nature::Contrary => contrary(found),
            Nature::Counting => {
                Findings { nodes: BOASTS[rng.random_range(0..BOASTS.len())], ..found.clone() }
            }
            _ => found.clone(),
        }
    }
}

fn below(moves: &[Move], mv: Move) -> Vec<Move> {
    [moves, &[mv]].concat()
}

/// The contrary of what was found, wherever something was settled; sound in form.
fn contrary(findings: &Findings) -> Findings {
    let mut lie = findings.clone();
    lie.efforts = flipped(&lie.efforts);
    lie.children.iter_mut().for_each(|child| child.efforts = flipped(&child.efforts));
    lie
}

fn flipped(efforts: &[EffortPair]) -> Vec<EffortPair> {
    // One verdict for all thresholds keeps them monotone.
    let settled = efforts.iter().find_map(|pair| pair.verdict());
    settled
        .map_or_else(|| efforts.to_vec(), |holds| vec![EffortPair::solved(!holds); efforts.len()])
}

fn wrong_about_one_child(findings: &Findings, rng: &mut StdRng) -> Findings {
    let mut lie = findings.clone();
    let settled = |index: &usize| findings.children[*index].efforts.iter().any(|p| p.is_solved());
    let settled: Vec<usize> = (0..lie.children.len()).filter(settled).collect();
    if !settled.is_empty() {
        let child = &mut lie.children[settled[rng.random_range(0..settled.len())]];
        child.efforts = flipped(&child.efforts);
    }
    lie
}

/// The last threshold that is reached is not, or else the first that is not reached is.
fn wrong_about_one_threshold(findings: &Findings) -> Findings {
    let mut lie = findings.clone();
    let children = lie.children.iter_mut().map(|child| &mut child.efforts);
    for efforts in children.chain([&mut lie.efforts]) {
        let open = |pair: &EffortPair| pair.verdict() != Some(true);
        let first = efforts.iter().position(open).unwrap_or(efforts.len());
        if let Some(last_reached) = first.checked_sub(1) {
            efforts[last_reached] = EffortPair::solved(false);
            efforts[first..].fill(EffortPair::solved(false));
        } else if efforts[0].verdict() == Some(false) {
            efforts[0] = EffortPair::solved(true);
        }
    }
    lie
}

fn proved(findings: &Findings, holds: bool) -> Findings {
    with_efforts(findings, vec![EffortPair::solved(holds); findings.efforts.len()])
}

/// Other effort numbers of the position, if they are for the same thresholds.
fn with_efforts(findings: &Findings, efforts: Vec<EffortPair>) -> Findings {
    let same = efforts.len() == findings.efforts.len();
    let efforts = if same { efforts } else { findings.efforts.clone() };
    Findings { efforts, ..findings.clone() }
}
