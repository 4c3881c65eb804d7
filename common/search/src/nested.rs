//! The second level of two-level searches: a search on a tree of its own, for a part of the
//! thresholds of the first. It evaluates at once, and frees what is solved.

use std::ops::{ControlFlow, Range};

use jlpns_games::{Bounds, Game, Outcome, Threshold};

use crate::efforts::{Width, carry_over};
use crate::tree::{KnowledgeUse, Tree};
use crate::{EffortPair, Findings, Initialisation, Question, with_width};

/// The bytes of a node of a search for one threshold.
pub(crate) const NODE_BYTES: u64 = 16;

/// The bounds of one second-level search. It expands its root in any case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The nodes that it may have in memory.
    pub nodes: usize,
    /// The descents that it may make.
    pub descents: u64,
}

/// How a second-level search begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub question: Question,
    pub initialisation: Initialisation,
    pub knowledge: KnowledgeUse,
}

/// What a second-level search found.
pub(crate) struct Nested {
    pub findings: Findings,
    pub peak: usize,
    /// Whether the watch stopped it.
    pub stopped: bool,
}

/// The second level: a search from `position`, in which the game is not over. `check` is told the nodes created and may stop it.
pub(crate) fn nested<G: Game>(
    game: &G,
    position: G::Position,
    start: Start,
    limits: Limits,
    check: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Nested {
    let Start { question, initialisation, knowledge } = start;
    let capacity = usize::MAX;
    with_width!(question.thresholds().1, width => {
        let tree = Tree::new(game, position, question, width, initialisation, capacity);
        grow(tree.with_knowledge(knowledge), limits, check)
    })
}

fn grow<G: Game, W: Width>(
    mut tree: Tree<'_, G, W>,
    limits: Limits,
    check: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Nested {
    let mut stopped = false;
    loop {
        tree.select();
        if !tree.expand() {
            break;
        }
        tree.backup();
        let done =
            tree.is_solved() || tree.live() >= limits.nodes || tree.descents() >= limits.descents;
        if done {
            break;
        }
        stopped = check(tree.created()).is_break();
        if stopped {
            break;
        }
    }
    Nested { findings: tree.findings(), peak: tree.peak(), stopped }
}

/// The question for the thresholds at `open` of those of `question`.
pub(crate) fn part_of(question: Question, open: &Range<usize>) -> Question {
    let (first, count) = question.thresholds();
    if open.len() == count {
        return question;
    }
    let threshold = |index: usize| first.0 + index as u8;
    if open.len() == 1 {
        Question::Threshold(Threshold(threshold(open.start)))
    } else {
        let (lower, upper) = (threshold(open.start) - 1, threshold(open.end) - 1);
        Question::Value(Bounds { lower: Outcome(lower), upper: Outcome(upper) })
    }
}

/// Numbers for all of `width` thresholds, given those for the ones at `open`. The others were not
/// searched, because nothing depends on them; they get what follows from their neighbours.
pub(crate) fn widened(
    efforts: &[EffortPair],
    open: &Range<usize>,
    width: usize,
) -> Vec<EffortPair> {
    let mut all = vec![EffortPair::UNIT; width];
    all[open.clone()].copy_from_slice(efforts);
    carry_over(&mut all, open.clone());
    all
}
