//! PN2 and GPNS2: PNS and GPNS whose most-proving node is searched by a second search of the same
//! kind, of which the root's children are kept (PN2: PDS-PN paper, section 3.2; GPNS2: GPNS
//! paper, section 4.6). The second level trades time for memory.
//!
//! The first level evaluates its nodes late: a child has the numbers that its parent's second
//! level gave it, until it is selected itself. The second level evaluates at once, and frees what
//! is solved. It is bounded by its nodes for PN2 and by its descents for GPNS2, and searches only
//! the thresholds that lie within the relevancy bounds of its root.

use std::ops::{ControlFlow, Range};

use jlpns_games::{Bounds, Game, Outcome, Threshold};

use crate::efforts::{One, Several, Width};
use crate::search::{Growth, SearchEnd, Stopped};
use crate::tree::{Knowledge, Tree};
use crate::watch::Watch;
use crate::{ChildFindings, Effort, EffortPair, Findings, Initialisation, Question, pns};

/// The bytes of a node of a search for one threshold.
pub(crate) const NODE_BYTES: u64 = 16;

/// What bounds a second-level search, besides the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SecondLevel {
    /// A share of the first level's nodes (PN2).
    Nodes(Growth),
    /// As many descents as the first level has made (GPNS2).
    Descents,
}

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
    pub knowledge: Knowledge,
}

/// What a second-level search found.
pub(crate) struct Nested {
    pub findings: Findings,
    pub peak: usize,
    /// Whether the watch stopped it.
    pub stopped: bool,
}

/// Grows `tree`, whose question is `question`, until it is answered, the memory of `capacity`
/// nodes is full or `watch` stops it.
pub(crate) fn search<G: Game, W: Width>(
    game: &G,
    initialisation: Initialisation,
    mut tree: Tree<'_, G, W>,
    question: Question,
    second_level: SecondLevel,
    capacity: usize,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    let (mut nodes, mut peak, mut stopped) = (1, 1, None);
    while !tree.is_solved() && stopped.is_none() {
        tree.select();
        let size = tree.live();
        let left = capacity.saturating_sub(size);
        let limits = match second_level {
            SecondLevel::Nodes(growth) => Limits {
                nodes: growth.second_level(size as u64, left as u64) as usize,
                descents: u64::MAX,
            },
            SecondLevel::Descents => Limits { nodes: left, descents: tree.descents() },
        };
        let open = tree.relevant();
        let part = part_of(question, &open);
        let position = tree.position().clone();
        let start = Start { initialisation, knowledge: tree.nested_knowledge(), question: part };
        let nested = nested(game, position, start, limits, &mut |created| {
            let now = nodes + created;
            watch.check(now, tree.expansions() > 0, &|| Findings { nodes: now, ..tree.findings() })
        });
        nodes += nested.findings.nodes;
        peak = peak.max(size + nested.peak);
        let width = tree.current_efforts().len();
        let children: Vec<ChildFindings> = nested
            .findings
            .children
            .into_iter()
            .map(|child| ChildFindings { efforts: widened(&child.efforts, &open, width), ..child })
            .collect();
        if tree.expand_with(&children) {
            tree.backup();
        } else {
            stopped = Some(Stopped::Memory);
        }
        if nested.stopped {
            stopped = watch.stopped();
        }
    }
    pns::end(&tree, nodes, peak, stopped)
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
    match question.thresholds().1 {
        1 => {
            let tree = Tree::new(game, position, question, One, initialisation, capacity);
            grow(tree.with_knowledge(knowledge), limits, check)
        }
        count => {
            let width = Several(count);
            let tree = Tree::new(game, position, question, width, initialisation, capacity);
            grow(tree.with_knowledge(knowledge), limits, check)
        }
    }
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
fn part_of(question: Question, open: &Range<usize>) -> Question {
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
fn widened(efforts: &[EffortPair], open: &Range<usize>, width: usize) -> Vec<EffortPair> {
    let (Some(&first), Some(&last)) = (efforts.first(), efforts.last()) else { return Vec::new() };
    let below = match first.verdict() {
        Some(true) => EffortPair::PROVED,
        _ => EffortPair { proof: Effort::ONE, disproof: first.disproof.max(Effort::ONE) },
    };
    let above = match last.verdict() {
        Some(false) => EffortPair::DISPROVED,
        _ => EffortPair { proof: last.proof.max(Effort::ONE), disproof: Effort::ONE },
    };
    let mut all = vec![below; open.start];
    all.extend_from_slice(efforts);
    all.resize(width, above);
    all
}
