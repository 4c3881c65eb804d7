//! The value of a position by searches for one threshold, each of which halves the outcomes that
//! are left (GPNS paper, section 3.3, where it is called a dichotomic search).
//!
//! Where the outcomes tell on which move a game is won that can last no longer than a drawn one, most wins between
//! players who make no mistakes come late. There the searches begin with the win of the first player, and go on from
//! the latest last move, by steps that double, until halving is less than the next step.

use std::ops::ControlFlow;

use jlpns_games::outcome::Ending;
use jlpns_games::{Bounds, Outcome, OutcomeScale, Threshold};

use crate::efforts::carry_over;
use crate::search_end::{Observer, SearchEnd, Statistics};
use crate::{ChildFindings, EffortPair, Findings, Question};

/// Finds the value on `scale` as far as it lies within `bounds`. `run` searches for one threshold, creating
/// at most so many nodes.
pub(crate) fn search(
    scale: &OutcomeScale,
    bounds: Bounds,
    max_nodes: Option<u64>,
    observer: &mut dyn Observer,
    mut run: impl FnMut(Threshold, Option<u64>, &mut dyn Observer) -> SearchEnd,
) -> SearchEnd {
    let mut whole = Whole::new(bounds);
    let mut statistics = Statistics::default();
    let mut stopped = None;
    let mut open = bounds;
    let draw = draw_on_the_last_move(scale);
    while open.value().is_none() && stopped.is_none() {
        let threshold = next_threshold(open, draw);
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

/// The draw of a scale whose drawn games end on the last move that there can be, and whose wins are told apart by their
/// last moves.
fn draw_on_the_last_move(scale: &OutcomeScale) -> Option<Outcome> {
    let mut outcomes = (0..=scale.best().0).map(Outcome);
    outcomes.find(|&outcome| matches!(scale.ending(outcome), Some(Ending::Drawn(Some(_)))))
}

/// What to ask next if these outcomes are left, more than one.
fn next_threshold(Bounds { lower, upper }: Bounds, draw: Option<Outcome>) -> Threshold {
    let middle = lower.0 + (upper.0 - lower.0).div_ceil(2);
    let Some(draw) = draw else { return Threshold(middle) };
    Threshold(if lower >= draw {
        let step = (lower.0 - draw.0).max(1);
        middle.min(lower.0 + step)
    } else if upper <= draw {
        let step = (draw.0 - upper.0).max(1);
        middle.max((upper.0 + 1).saturating_sub(step))
    } else {
        draw.0 + 1
    })
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

#[cfg(test)]
mod tests {
    use jlpns_games::Game;
    use jlpns_games::connect4::Connect4;

    use super::*;

    /// The thresholds that are asked until `value` is known.
    fn asked(bounds: Bounds, draw: Option<Outcome>, value: Outcome) -> Vec<u8> {
        let (mut open, mut asked) = (bounds, Vec::new());
        while open.value().is_none() {
            let threshold = next_threshold(open, draw);
            assert!(threshold.0 > open.lower.0 && threshold.0 <= open.upper.0, "{open:?}");
            asked.push(threshold.0);
            if threshold.holds(value) {
                open.lower = Outcome(threshold.0);
            } else {
                open.upper = Outcome(threshold.0 - 1);
            }
        }
        assert_eq!(open, Bounds::exactly(value));
        asked
    }

    #[test]
    fn late_wins_and_losses_are_asked_for_first() {
        let game = Connect4::<u64>::new(7, 6).expect("a size in range").with_last_moves();
        let (scale, all) = (game.scale(), game.scale().bounds());
        let draw = draw_on_the_last_move(scale);
        let asked_for = |name: &str| {
            let value = scale.parse_goal(&format!(">={name}")).expect("an outcome").threshold();
            let asked = asked(all, draw, Outcome(value.0));
            let asked = asked.into_iter().map(|threshold| scale.name(Outcome(threshold)));
            asked.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(asked_for("win-41"), "win-41 win-39");
        assert_eq!(asked_for("win-37"), "win-41 win-39 win-35 win-37");
        assert_eq!(asked_for("draw"), "win-41 draw");
        assert_eq!(asked_for("loss-42"), "win-41 draw loss-42");
        assert_eq!(asked_for("loss-40"), "win-41 draw loss-42 loss-38 loss-40");
    }

    #[test]
    fn every_value_is_found() {
        for best in 1..40 {
            for draw in [None].into_iter().chain((0..=best).map(|draw| Some(Outcome(draw)))) {
                for (lower, upper) in (0..best).flat_map(|l| (l + 1..=best).map(move |u| (l, u))) {
                    let bounds = Bounds { lower: Outcome(lower), upper: Outcome(upper) };
                    for value in lower..=upper {
                        let asked = asked(bounds, draw, Outcome(value));
                        // No more than twice as many as by halving alone.
                        let outcomes = u32::from(upper - lower + 1);
                        let halvings = outcomes.next_power_of_two().ilog2() as usize;
                        assert!(asked.len() <= 2 * halvings.max(1) + 1, "{asked:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_scales_are_halved() {
        let plain = Connect4::<u64>::new(7, 6).expect("a size in range");
        assert_eq!(draw_on_the_last_move(plain.scale()), None);
        let all = Bounds { lower: Outcome(0), upper: Outcome(7) };
        assert_eq!(asked(all, None, Outcome(5)), [4, 6, 5]);
    }
}
