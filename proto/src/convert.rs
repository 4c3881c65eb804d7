//! From the messages to the types of `jlpns-search` and back.
//!
//! To the wire nothing can fail (`From`). From the wire every field is checked (`TryFrom`): what
//! comes out has the shape that the contract promises. Whether its moves are legal and its
//! thresholds are the ones asked is for those to check who know the game and the question.

mod solved;

use jlpns_games::outcome::{MAX_OUTCOMES, MAX_THRESHOLDS};
use jlpns_games::{Bounds, Move, Outcome, Threshold};
use jlpns_search::search::Growth;
use jlpns_search::{
    Algorithm, ChildFindings, Effort, EffortPair, Findings, Initialisation, Job, Question,
};

pub use self::solved::{packed, packed_parts, unpacked, unpacked_parts};
use crate::{MAX_LABEL, MAX_MOVES, MAX_NAME, MAX_NODES, v1};

/// The most children that findings can have: one for each move code.
const MAX_CHILDREN: usize = 1 << 16;

/// What is wrong with a message, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A field that must be there is not.
    #[error("{0} is missing; it must be set")]
    Missing(&'static str),
    /// A number out of its range.
    #[error("{field} is {value}; it must be {least} to {most}")]
    Range {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// The least number allowed.
        least: u64,
        /// The greatest number allowed.
        most: u64,
    },
    /// A number that is not finite, or too small.
    #[error("{field} is {value}; it must be a finite number {least}")]
    Number {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: String,
        /// From where on it is allowed, in words.
        least: &'static str,
    },
    /// An enum field that is not set or that has a number without a name.
    #[error("{field} is {value}, which names nothing; it must be one of the values of {of}")]
    Unknown {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: i32,
        /// The enum.
        of: &'static str,
    },
    /// A text that would break the line of a log.
    #[error("{0} has a control character; it must have none")]
    Control(&'static str),
    /// A list that is too long.
    #[error("{field} has {len} entries; it may have at most {most}")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Its length.
        len: usize,
        /// The greatest length allowed.
        most: usize,
    },
    /// Bytes that are no message.
    #[error("a part of batch.solved cannot be read: {0}")]
    Encoding(prost::DecodeError),
    /// Relevancy bounds that leave nothing to ask.
    #[error("the relevancy bounds {0} to {1} are empty; the lower must be less than the upper")]
    EmptyBounds(u32, u32),
    /// Effort numbers that do not come in pairs.
    #[error("a list of {0} effort numbers is no list of pairs; its length must be even, 2 to 508")]
    Unpaired(usize),
    /// Effort numbers that contradict each other.
    #[error(
        "the effort numbers {0} and {1} contradict each other; one must be 0 exactly when the \
         other is {max}", max = u32::MAX
    )]
    Inconsistent(u32, u32),
    /// A child with effort numbers for other thresholds than the position.
    #[error(
        "the child of move {mv} has {child} effort numbers; it must have {root}, as the position"
    )]
    ChildShape {
        /// The move's code.
        mv: u32,
        /// How many numbers the child has.
        child: usize,
        /// How many the position has.
        root: usize,
    },
    /// Two children for one move.
    #[error("the findings have two children for move {0}; each move must come once")]
    TwiceTheMove(u32),
    /// A best move that is none of the children.
    #[error("the best move {0} is not among the children; it must be one of them")]
    ForeignBestMove(u32),
    /// A worker name that cannot be shown.
    #[error(
        "the worker's name is empty, too long or has control characters; it must have 1 to \
         {MAX_NAME} characters, none of them a control character"
    )]
    Name,
    /// A search that cannot be a sub-search.
    #[error("{0} cannot be the sub-search of a job; any other algorithm can")]
    NoSubSearch(Algorithm),
}

/// Checks that a number lies in a range.
pub fn in_range(field: &'static str, value: u64, least: u64, most: u64) -> Result<u64, WireError> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(WireError::Range { field, value, least, most })
    }
}

fn from_zero(field: &'static str, value: f64) -> Result<f64, WireError> {
    number(field, value, value >= 0.0, "from 0")
}

fn above_zero(field: &'static str, value: f64) -> Result<f64, WireError> {
    number(field, value, value > 0.0, "above 0")
}

fn number(
    field: &'static str,
    value: f64,
    is_allowed: bool,
    least: &'static str,
) -> Result<f64, WireError> {
    if value.is_finite() && is_allowed {
        Ok(value)
    } else {
        Err(WireError::Number { field, value: value.to_string(), least })
    }
}

/// Checks the length of a list.
pub fn at_most<T>(field: &'static str, list: &[T], most: usize) -> Result<(), WireError> {
    if list.len() <= most {
        Ok(())
    } else {
        Err(WireError::TooLong { field, len: list.len(), most })
    }
}

/// Checks the name of a worker.
pub fn worker_name(name: &str) -> Result<(), WireError> {
    let sound =
        (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if sound { Ok(()) } else { Err(WireError::Name) }
}

/// Checks a text for people or for comparing, such as `hello.machine`.
pub fn label(field: &'static str, text: &str) -> Result<(), WireError> {
    in_range(field, text.chars().count() as u64, 0, MAX_LABEL as u64)?;
    if text.chars().any(char::is_control) { Err(WireError::Control(field)) } else { Ok(()) }
}

fn outcome(field: &'static str, index: u32) -> Result<Outcome, WireError> {
    Ok(Outcome(in_range(field, u64::from(index), 0, MAX_THRESHOLDS as u64)? as u8))
}

fn move_code(field: &'static str, code: u32) -> Result<Move, WireError> {
    Ok(Move(in_range(field, u64::from(code), 0, u64::from(u16::MAX))? as u16))
}

/// The moves with these codes.
pub fn moves(field: &'static str, codes: &[u32]) -> Result<Vec<Move>, WireError> {
    at_most(field, codes, MAX_MOVES)?;
    codes.iter().map(|&code| move_code(field, code)).collect()
}

impl From<Algorithm> for v1::Algorithm {
    fn from(algorithm: Algorithm) -> v1::Algorithm {
        match algorithm {
            Algorithm::Pns => v1::Algorithm::Pns,
            Algorithm::Gpns => v1::Algorithm::Gpns,
            Algorithm::Pn2 => v1::Algorithm::Pn2,
            Algorithm::Gpns2 => v1::Algorithm::Gpns2,
            Algorithm::GpnsPn2 => v1::Algorithm::GpnsPn2,
            Algorithm::Pds => v1::Algorithm::Pds,
            Algorithm::PdsPn => v1::Algorithm::PdsPn,
            Algorithm::DfPn => v1::Algorithm::DfPn,
            Algorithm::AlphaBeta => v1::Algorithm::AlphaBeta,
            Algorithm::Dichotomic => v1::Algorithm::Dichotomic,
        }
    }
}

/// The algorithm with this number on the wire.
pub fn algorithm(field: &'static str, number: i32) -> Result<Algorithm, WireError> {
    Ok(match v1::Algorithm::try_from(number).unwrap_or_default() {
        v1::Algorithm::Unspecified => {
            return Err(WireError::Unknown { field, value: number, of: "Algorithm" });
        }
        v1::Algorithm::Pns => Algorithm::Pns,
        v1::Algorithm::Gpns => Algorithm::Gpns,
        v1::Algorithm::Pn2 => Algorithm::Pn2,
        v1::Algorithm::Gpns2 => Algorithm::Gpns2,
        v1::Algorithm::GpnsPn2 => Algorithm::GpnsPn2,
        v1::Algorithm::Pds => Algorithm::Pds,
        v1::Algorithm::PdsPn => Algorithm::PdsPn,
        v1::Algorithm::DfPn => Algorithm::DfPn,
        v1::Algorithm::AlphaBeta => Algorithm::AlphaBeta,
        v1::Algorithm::Dichotomic => Algorithm::Dichotomic,
    })
}

impl From<Initialisation> for v1::Initialisation {
    fn from(initialisation: Initialisation) -> v1::Initialisation {
        match initialisation {
            Initialisation::Unit => v1::Initialisation::Unit,
            Initialisation::Mobility => v1::Initialisation::Mobility,
        }
    }
}

/// The initialisation with this number on the wire.
pub fn initialisation(field: &'static str, number: i32) -> Result<Initialisation, WireError> {
    match v1::Initialisation::try_from(number).unwrap_or_default() {
        v1::Initialisation::Unspecified => {
            Err(WireError::Unknown { field, value: number, of: "Initialisation" })
        }
        v1::Initialisation::Unit => Ok(Initialisation::Unit),
        v1::Initialisation::Mobility => Ok(Initialisation::Mobility),
    }
}

impl From<Question> for v1::Question {
    fn from(question: Question) -> v1::Question {
        let kind = match question {
            Question::Threshold(threshold) => v1::question::Kind::Threshold(u32::from(threshold.0)),
            Question::Value(Bounds { lower, upper }) => v1::question::Kind::Value(v1::Bounds {
                lower: u32::from(lower.0),
                upper: u32::from(upper.0),
            }),
        };
        v1::Question { kind: Some(kind) }
    }
}

impl TryFrom<v1::Question> for Question {
    type Error = WireError;

    fn try_from(question: v1::Question) -> Result<Question, WireError> {
        match question.kind.ok_or(WireError::Missing("question.kind"))? {
            v1::question::Kind::Threshold(threshold) => {
                let index =
                    in_range("question.threshold", u64::from(threshold), 0, MAX_OUTCOMES as u64)?;
                Ok(Question::Threshold(Threshold(index as u8)))
            }
            v1::question::Kind::Value(bounds) => {
                let lower = outcome("question.value.lower", bounds.lower)?;
                let upper = outcome("question.value.upper", bounds.upper)?;
                if lower >= upper {
                    return Err(WireError::EmptyBounds(bounds.lower, bounds.upper));
                }
                Ok(Question::Value(Bounds { lower, upper }))
            }
        }
    }
}

impl From<&Job> for v1::Job {
    fn from(job: &Job) -> v1::Job {
        v1::Job {
            moves: job.moves.iter().map(|mv| u32::from(mv.0)).collect(),
            question: Some(job.question.into()),
            sub_search: v1::Algorithm::from(job.sub_search).into(),
            initialisation: v1::Initialisation::from(job.initialisation).into(),
            knowledge: job.knowledge,
            growth_a: job.growth.a,
            growth_b: job.growth.b,
            epsilon: job.epsilon,
            budget: job.budget,
            prove: job.prove,
            alone: job.alone,
        }
    }
}

impl From<&Job> for v1::Subject {
    /// Without a seal, which is the lease's.
    fn from(job: &Job) -> v1::Subject {
        let moves = job.moves.iter().map(|mv| u32::from(mv.0)).collect();
        v1::Subject { moves, question: Some(job.question.into()), budget: job.budget, seal: 0 }
    }
}

impl TryFrom<v1::Job> for Job {
    type Error = WireError;

    fn try_from(job: v1::Job) -> Result<Job, WireError> {
        let sub_search = algorithm("job.sub_search", job.sub_search)?;
        if sub_search == Algorithm::Dichotomic {
            return Err(WireError::NoSubSearch(sub_search));
        }
        Ok(Job {
            moves: moves("job.moves", &job.moves)?,
            question: job.question.ok_or(WireError::Missing("job.question"))?.try_into()?,
            sub_search,
            initialisation: initialisation("job.initialisation", job.initialisation)?,
            knowledge: job.knowledge,
            growth: Growth {
                a: from_zero("job.growth_a", job.growth_a)?,
                b: above_zero("job.growth_b", job.growth_b)?,
            },
            epsilon: from_zero("job.epsilon", job.epsilon)?,
            budget: in_range("job.budget", job.budget, 1, u64::MAX)?,
            prove: job.prove,
            alone: job.alone,
        })
    }
}

/// Effort pairs as they are sent: proof, disproof, proof, ...
fn efforts_to_wire(efforts: &[EffortPair]) -> Vec<u32> {
    efforts.iter().flat_map(|pair| [pair.proof.to_bits(), pair.disproof.to_bits()]).collect()
}

fn efforts_from_wire(numbers: &[u32]) -> Result<Vec<EffortPair>, WireError> {
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() || !(1..=MAX_THRESHOLDS).contains(&pairs.len()) {
        return Err(WireError::Unpaired(numbers.len()));
    }
    pairs
        .iter()
        .map(|&[proof, disproof]| {
            let pair = EffortPair {
                proof: Effort::from_bits(proof),
                disproof: Effort::from_bits(disproof),
            };
            if pair.is_consistent() {
                Ok(pair)
            } else {
                Err(WireError::Inconsistent(proof, disproof))
            }
        })
        .collect()
}

impl From<&Findings> for v1::Findings {
    fn from(findings: &Findings) -> v1::Findings {
        v1::Findings {
            efforts: efforts_to_wire(&findings.efforts),
            children: findings
                .children
                .iter()
                .map(|child| v1::ChildFindings {
                    r#move: u32::from(child.mv.0),
                    efforts: efforts_to_wire(&child.efforts),
                })
                .collect(),
            nodes: findings.nodes,
            most_proving_move: findings.most_proving_move.map(|mv| u32::from(mv.0)),
        }
    }
}

impl TryFrom<v1::Findings> for Findings {
    type Error = WireError;

    fn try_from(findings: v1::Findings) -> Result<Findings, WireError> {
        let efforts = efforts_from_wire(&findings.efforts)?;
        at_most("findings.children", &findings.children, MAX_CHILDREN)?;
        let mut children = Vec::with_capacity(findings.children.len());
        for child in &findings.children {
            let mv = move_code("findings.children.move", child.r#move)?;
            if child.efforts.len() != findings.efforts.len() {
                return Err(WireError::ChildShape {
                    mv: child.r#move,
                    child: child.efforts.len(),
                    root: findings.efforts.len(),
                });
            }
            children.push(ChildFindings { mv, efforts: efforts_from_wire(&child.efforts)? });
        }
        let mut codes: Vec<Move> = children.iter().map(|child| child.mv).collect();
        codes.sort_unstable();
        if let Some(twice) = codes.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(WireError::TwiceTheMove(u32::from(twice[0].0)));
        }
        let most_proving_move = findings
            .most_proving_move
            .map(|code| move_code("findings.most_proving_move", code))
            .transpose()?;
        if let Some(mv) = most_proving_move
            && !codes.is_empty()
            && codes.binary_search(&mv).is_err()
        {
            return Err(WireError::ForeignBestMove(u32::from(mv.0)));
        }
        let nodes = in_range("findings.nodes", findings.nodes, 0, MAX_NODES)?;
        Ok(Findings { efforts, children, nodes, most_proving_move })
    }
}

#[cfg(test)]
mod tests;
