//! The value of a position by searches for one threshold, each of which halves the outcomes that
//! are left (GPNS paper, section 3.3, where it is called a dichotomic search).
//!
//! A search with the game's knowledge may ask in another order: for late wins first (`late_first`), or for the best of
//! who is favoured (`favoured_first`).

use std::ops::ControlFlow;

use jlpns_games::{Bounds, Outcome, Threshold};

use crate::efforts::carry_over;
use crate::search_end::{Observer, SearchEnd, Statistics};
use crate::{ChildFindings, EffortPair, Findings, Question};

/// Finds the value as far as it lies within `bounds`; `next` says what to ask if these outcomes are left. `run` searches
/// for one threshold, creating at most so many nodes.
pub(crate) fn search(
    bounds: Bounds,
    next: impl Fn(Bounds) -> Threshold,
    max_nodes: Option<u64>,
    observer: &mut dyn Observer,
    mut run: impl FnMut(Threshold, Option<u64>, &mut dyn Observer) -> SearchEnd,
) -> SearchEnd {
    let mut whole = Whole::new(bounds);
    let mut statistics = Statistics::default();
    let mut stopped = None;
    let mut open = bounds;
    while open.value().is_none() && stopped.is_none() {
        let threshold = next(open);
        let nodes_before = statistics.nodes;
        let nodes_left = max_nodes.map(|max| max.saturating_sub(nodes_before));
        let mut part = PartObserver { observer: &mut *observer, whole: &whole, threshold };
        let end = run(threshold, nodes_left, &mut part);
        match end.findings.efforts[0].verdict() {
            Some(true) => open.lower = Outcome(threshold.0),
            Some(false) => open.upper = Outcome(threshold.0 - 1),
            None => {}
        }
        stopped = end.stopped;
        statistics.descents += end.statistics.descents;
        statistics.nodes += end.statistics.nodes;
        statistics.peak_nodes = statistics.peak_nodes.max(end.statistics.peak_nodes);
        whole.add(threshold, &end.findings);
    }
    SearchEnd { findings: whole.findings, stopped, statistics }
}

/// The threshold that halves these outcomes, of which there are more than one.
pub(crate) fn middle(Bounds { lower, upper }: Bounds) -> Threshold {
    Threshold(lower.0 + (upper.0 - lower.0).div_ceil(2))
}

/// What all runs have found so far. The numbers of thresholds that were not searched are those
/// that follow from the ones that were.
#[derive(Clone)]
struct Whole {
    first: Threshold,
    findings: Findings,
}

impl Whole {
    fn new(bounds: Bounds) -> Whole {
        let (first, count) = Question::Value(bounds).thresholds();
        let efforts = vec![EffortPair::UNIT; count];
        let findings =
            Findings { efforts, children: Vec::new(), nodes: 0, most_proving_move: None };
        Whole { first, findings }
    }

    /// Adds the findings of a run for one threshold.
    fn add(&mut self, threshold: Threshold, part: &Findings) {
        let index = usize::from(threshold.0 - self.first.0);
        let whole = &mut self.findings;
        let width = whole.efforts.len();
        insert(&mut whole.efforts, index, part.efforts[0]);
        if whole.children.is_empty() {
            let unsearched = vec![EffortPair::UNIT; width];
            let child = |mv| ChildFindings { mv, efforts: unsearched.clone() };
            whole.children = part.children.iter().map(|c| child(c.mv)).collect();
        }
        for (child, found) in whole.children.iter_mut().zip(&part.children) {
            debug_assert_eq!(child.mv, found.mv);
            insert(&mut child.efforts, index, found.efforts[0]);
        }
        whole.nodes += part.nodes;
        whole.most_proving_move = part.most_proving_move.or(whole.most_proving_move);
    }
}

/// Puts new numbers at `index`, and carries them over to the other thresholds. A threshold that is
/// solved stays so.
fn insert(efforts: &mut [EffortPair], index: usize, new: EffortPair) {
    if !efforts[index].is_solved() {
        efforts[index] = new;
    }
    carry_over(efforts, index..index + 1);
}

/// Shows the observer of the whole what one run finds.
struct PartObserver<'a> {
    observer: &'a mut dyn Observer,
    whole: &'a Whole,
    threshold: Threshold,
}

impl Observer for PartObserver<'_> {
    fn observe(&mut self, nodes: u64, findings: &dyn Fn() -> Findings) -> ControlFlow<()> {
        self.observer.observe(self.whole.findings.nodes + nodes, &|| {
            let mut whole = self.whole.clone();
            whole.add(self.threshold, &findings());
            whole.findings
        })
    }
}
