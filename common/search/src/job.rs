//! Jobs and what comes back from them: the questions that the coordinator asks of the workers.

use jlpns_games::{Bounds, Move, Outcome, OutcomeScale, Threshold};

pub use crate::algorithm::{Algorithm, UnknownAlgorithm};
use crate::effort::EffortPair;
use crate::growth::Growth;

/// What a search is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// Is the value at least this threshold? One effort pair.
    Threshold(Threshold),
    /// What is the value, as far as it lies within these relevancy bounds? One effort pair for
    /// each threshold that is open between them; a value outside is only told to be outside.
    Value(Bounds),
}

impl Question {
    /// The first threshold asked and how many there are; they follow each other.
    #[inline]
    pub const fn thresholds(self) -> (Threshold, usize) {
        match self {
            Question::Threshold(threshold) => (threshold, 1),
            Question::Value(bounds) => {
                (Threshold(bounds.lower.0 + 1), (bounds.upper.0 - bounds.lower.0) as usize)
            }
        }
    }

    /// The threshold with this index among those asked.
    pub(crate) fn threshold(self, index: usize) -> Threshold {
        Threshold(self.thresholds().0.0 + index as u8)
    }

    /// What `efforts`, one pair for each threshold asked, say of the value.
    pub fn bounds(self, efforts: &[EffortPair], scale: &OutcomeScale) -> Bounds {
        let (first, count) = self.thresholds();
        debug_assert_eq!(efforts.len(), count);
        let mut bounds = scale.bounds();
        for (index, pair) in efforts.iter().enumerate() {
            let threshold = first.0 + index as u8;
            match pair.verdict() {
                Some(true) => bounds.lower = bounds.lower.max(Outcome(threshold)),
                Some(false) => {
                    bounds.upper = bounds.upper.min(Outcome(threshold.saturating_sub(1)))
                }
                None => {}
            }
        }
        bounds
    }

    /// Whether `efforts` answer the question: every threshold asked is proved or disproved.
    pub fn is_answered(self, efforts: &[EffortPair]) -> bool {
        efforts.iter().all(|pair| pair.is_solved())
    }
}

/// The effort numbers that a new frontier node starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initialisation {
    /// 1 and 1.
    #[default]
    Unit,
    /// 1 for the player to move, the number of legal moves for the other (GPNS paper, 4.6).
    Mobility,
}

impl Initialisation {
    /// All of them.
    pub const ALL: [Initialisation; 2] = [Initialisation::Unit, Initialisation::Mobility];

    /// Its name, as people read and type it.
    pub fn name(self) -> &'static str {
        match self {
            Initialisation::Unit => "unit",
            Initialisation::Mobility => "mobility",
        }
    }
}

/// One search that a worker is asked to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The position, as the moves that lead to it from the start of the solve's game.
    pub moves: Vec<Move>,
    /// What to find out about it.
    pub question: Question,
    /// The sub-search to run.
    pub sub_search: Algorithm,
    /// How its new frontier nodes start.
    pub initialisation: Initialisation,
    /// Whether the sub-search asks the game for more than its rules.
    pub knowledge: bool,
    /// Whether a certificate of the answer is wanted with it.
    pub prove: bool,
    /// Whether the search is to rest on nothing that other workers have told: then what it finds is its machine's
    /// own word.
    pub alone: bool,
    /// How it sizes its second level, if it has one.
    pub growth: Growth,
    /// The epsilon of its 1 + epsilon rule, if it is df-pn.
    pub epsilon: f64,
    /// How many nodes the sub-search may create before it reports what it has.
    pub budget: u64,
}

/// What a search knows, at its end or on its way: effort numbers for the thresholds of its
/// question, of the position and of each position one move on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// One pair for each threshold asked.
    pub efforts: Vec<EffortPair>,
    /// The legal moves in the game's order, each with one pair for each threshold asked; empty
    /// if the search did not get as far as to look at them.
    pub children: Vec<ChildFindings>,
    /// The nodes created so far.
    pub nodes: u64,
    /// The move that the search holds best for the player to move, if it has one.
    pub most_proving_move: Option<Move>,
}

/// What a search knows of the position after one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildFindings {
    /// The move.
    pub mv: Move,
    /// One pair for each threshold asked.
    pub efforts: Vec<EffortPair>,
}
