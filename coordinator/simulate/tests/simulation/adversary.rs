//! Workers that do not say what they found: not all the time, not everywhere, and not alone.

use jlpns_search::{EffortPair, Findings};
use rand::RngExt;
use rand::rngs::StdRng;

/// What a worker does with what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// It settles what is open, and calls the position proved for whoever asks.
    Inventive,
    /// It lies in partial reports only, and says at the end what it found.
    InProgress,
    /// It is honest until it is trusted, and lies then.
    Late,
    /// It is honest until it has been started anew.
    AfterRestart,
    /// It says the contrary, and that it took next to no work, or more than it could do.
    Boastful,
    /// It searches at most one node each time and counts on and on.
    Counting,
}

/// All but the honest.
pub const ADVERSARIES: [Nature; 10] = [
    Nature::Contrary,
    Nature::NowAndThen,
    Nature::Once,
    Nature::OneChild,
    Nature::Inventive,
    Nature::InProgress,
    Nature::Late,
    Nature::AfterRestart,
    Nature::Boastful,
    Nature::Counting,
];

/// Reports after which one that is late begins to lie.
const TRUSTED_AFTER: u64 = 15;

/// A worker as its nature has it.
pub struct Adversary {
    pub nature: Nature,
    /// How often it has reported what it did not find, in all its processes.
    lies: u64,
    /// How often its present process has reported, and which one that is.
    reports: u64,
    life: u64,
}

impl Adversary {
    pub fn new(nature: Nature) -> Adversary {
        Adversary { nature, lies: 0, reports: 0, life: 0 }
    }

    /// What it reports that has found something, in the process with this number.
    pub fn report(&mut self, found: &Findings, life: u64, rng: &mut StdRng) -> Findings {
        if self.life != life {
            (self.life, self.reports) = (life, 0);
        }
        self.reports += 1;
        let said = self.nature.says(self, found, rng);
        self.lies += u64::from(said != *found);
        said
    }
}

impl Nature {
    fn says(self, worker: &Adversary, found: &Findings, rng: &mut StdRng) -> Findings {
        match self {
            Nature::Honest | Nature::InProgress | Nature::Counting => found.clone(),
            Nature::Contrary => contrary(found),
            Nature::NowAndThen if rng.random_range(0..4) == 0 => contrary(found),
            Nature::Once if worker.lies == 0 => contrary(found),
            Nature::OneChild => wrong_about_one_child(found, rng),
            Nature::Inventive => proved(found, rng.random_range(0..2) == 0),
            Nature::Late if worker.reports >= TRUSTED_AFTER => contrary(found),
            Nature::AfterRestart if worker.life > 1 => contrary(found),
            Nature::Boastful => {
                let nodes = if rng.random_range(0..2) == 0 { 1 } else { 1 << 53 };
                Findings { nodes, ..contrary(found) }
            }
            Nature::NowAndThen | Nature::Once | Nature::Late | Nature::AfterRestart => {
                found.clone()
            }
        }
    }

    /// What a worker says on its way to `found`.
    pub fn progress(self, found: &Findings, rng: &mut StdRng) -> Findings {
        match self {
            Nature::InProgress | Nature::Inventive => proved(found, rng.random_range(0..2) == 0),
            Nature::Contrary => contrary(found),
            Nature::Counting => Findings { nodes: 1 << 50, ..found.clone() },
            _ => found.clone(),
        }
    }
}

/// The contrary of what was found, wherever something was settled; sound in form.
pub fn contrary(findings: &Findings) -> Findings {
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

fn proved(findings: &Findings, holds: bool) -> Findings {
    let efforts = vec![EffortPair::solved(holds); findings.efforts.len()];
    Findings { efforts, ..findings.clone() }
}
