//! Whether a report can be what the sub-search of its job found: what breaks the properties of
//! effort numbers (GPNS paper, section 4.3) never reaches the tree.

use jlpns_games::Move;
use jlpns_search::{EffortPair, Findings, Question};

/// What is wrong with a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindingsError {
    /// Another number of pairs than the question has thresholds.
    #[error("{what} has {got} effort pairs where the question has {expected} thresholds")]
    Width {
        /// The position they are for.
        what: Place,
        /// How many there are.
        got: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A proof without the other side's being impossible, or the other way round.
    #[error("{0} has an effort of 0 without infinity on the other side, or infinity without 0")]
    Inconsistent(Place),
    /// More takes less effort than less.
    #[error("the efforts of {0} do not rise with the outcome")]
    NotMonotone(Place),
    /// The children are not the legal moves.
    #[error(
        "the report lists {got} moves where {expected} are legal, or others than the legal ones"
    )]
    Moves {
        /// How many there are.
        got: usize,
        /// How many are legal.
        expected: usize,
    },
    /// More nodes than the budget allows.
    #[error("it counts {got} nodes where the budget was {budget}")]
    Nodes {
        /// How many it counts.
        got: u64,
        /// How many the job was to create at most.
        budget: u64,
    },
    /// The certificate that came with it does not show what was found.
    #[error("its certificate does not show what it says: {0}")]
    Certificate(String),
    /// The job asked for a certificate, and there is none.
    #[error("it has no certificate, which its job asks for")]
    NoCertificate,
    /// The job was to be searched alone.
    #[error("its search used what others had told, which its job does not allow")]
    Hearsay,
    /// The best move is not legal.
    #[error("the best move, code {0}, is not legal")]
    BestMove(u16),
}

/// The position that numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The job's own position.
    Root,
    /// The position after a move, with its code.
    Child(u16),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Root => f.write_str("the job's position"),
            Place::Child(mv) => write!(f, "the position after move code {mv}"),
        }
    }
}

/// How far a search may pass its budget: it looks at it from time to time, and a nested search
/// comes to its own end.
const BEYOND_FACTOR: u64 = 4;
const BEYOND: u64 = 4_000_000;

/// Whether a search with this budget may count so many nodes.
pub fn check_count(nodes: u64, budget: u64) -> Result<(), FindingsError> {
    if nodes <= budget.saturating_mul(BEYOND_FACTOR).saturating_add(BEYOND) {
        Ok(())
    } else {
        Err(FindingsError::Nodes { got: nodes, budget })
    }
}

/// Checks `findings` against the question and the legal moves of the job's position.
pub fn check(findings: &Findings, question: Question, legal: &[Move]) -> Result<(), FindingsError> {
    let width = question.thresholds().1;
    check_efforts(&findings.efforts, width, Place::Root)?;
    if let Some(best) = findings.most_proving_move
        && !legal.contains(&best)
    {
        return Err(FindingsError::BestMove(best.0));
    }
    if !findings.children.is_empty() {
        let mut moves: Vec<Move> = findings.children.iter().map(|child| child.mv).collect();
        let mut expected = legal.to_vec();
        moves.sort_unstable();
        expected.sort_unstable();
        if moves != expected {
            return Err(FindingsError::Moves { got: moves.len(), expected: expected.len() });
        }
    }
    let place = |mv: Move| Place::Child(mv.0);
    findings.children.iter().try_for_each(|c| check_efforts(&c.efforts, width, place(c.mv)))
}

fn check_efforts(efforts: &[EffortPair], width: usize, what: Place) -> Result<(), FindingsError> {
    if efforts.len() != width {
        return Err(FindingsError::Width { what, got: efforts.len(), expected: width });
    }
    if !efforts.iter().all(|pair| pair.is_consistent()) {
        return Err(FindingsError::Inconsistent(what));
    }
    let rising = |w: &[EffortPair]| w[0].proof <= w[1].proof && w[0].disproof >= w[1].disproof;
    if !efforts.windows(2).all(rising) {
        return Err(FindingsError::NotMonotone(what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jlpns_games::{Outcome, Threshold};
    use jlpns_search::Effort;

    use super::*;

    #[test]
    fn a_search_passes_its_budget_so_far_and_no_further() {
        for budget in [0, 1, 20_000, u64::MAX / 8] {
            let most = 4 * budget + 4_000_000;
            assert_eq!(check_count(most, budget), Ok(()));
            let error = FindingsError::Nodes { got: most + 1, budget };
            assert_eq!(check_count(most + 1, budget), Err(error));
        }
    }

    #[test]
    fn whoever_reaches_more_reaches_less() {
        let question =
            Question::Value(jlpns_games::Bounds { lower: Outcome(0), upper: Outcome(2) });
        assert_eq!(question.thresholds(), (Threshold(1), 2));
        let [yes, no] = [true, false].map(EffortPair::solved);
        let open = EffortPair::UNIT;
        let checked = |efforts: [EffortPair; 2]| {
            let findings = Findings {
                efforts: efforts.to_vec(),
                children: Vec::new(),
                nodes: 1,
                most_proving_move: None,
            };
            check(&findings, question, &[])
        };
        for sound in [[yes, yes], [yes, no], [no, no], [yes, open], [open, no], [open, open]] {
            assert_eq!(checked(sound), Ok(()), "{sound:?}");
        }
        let [less, more] =
            [3, 5].map(|n| EffortPair { proof: Effort::finite(n), disproof: Effort::finite(n) });
        for unsound in [[no, yes], [open, yes], [no, open], [less, more], [more, less]] {
            assert_eq!(checked(unsound), Err(FindingsError::NotMonotone(Place::Root)));
        }
    }
}
