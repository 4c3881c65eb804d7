//! Df-pn: depth-first proof-number search (Nagai 2002; survey page of the variants, "Depth
//! First"), with the 1 + epsilon rule (Pawlewicz and Lew 2006).
//!
//! It follows the most-proving node like PNS, but stays below a node as long as that node remains
//! the best choice: until its numbers reach thresholds that its ancestors set. The 1 + epsilon
//! rule makes these a little wider, so that two children of about the same effort do not take
//! turns with every node. Children are evaluated when they are created.

use std::ops::ControlFlow;

use jlpns_games::Game;

use crate::depth_first::{Frame, Numbers, Path, Setting, own};
use crate::efforts::pair_of;
use crate::search_end::SearchEnd;
use crate::watch::Watch;
use crate::{Effort, EffortPair};

/// Searches for one threshold, until it is answered or `watch` stops the search. Whatever was
/// found is in the table afterwards, so that the next search goes on where this one stopped.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    start: &G::Position,
    epsilon: f64,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    debug_assert!(!setting.delayed);
    let unlimited = EffortPair { proof: Effort::INFINITY, disproof: Effort::INFINITY };
    // A node on the way keeps its thresholds.
    let mut path: Path<'_, G, Numbers, EffortPair> = Path::from_root(setting, start, unlimited);
    while !path.is_over() {
        let &Frame { player, own: limits, .. } = path.top();
        let other = player.opponent();
        let of_children = path.of_children();
        let exceeded =
            of_children.own >= own(player, limits) || of_children.other >= own(other, limits);
        if exceeded || path.check(watch) == ControlFlow::Break(()) {
            path.leave(pair_of(player, of_children.own, of_children.other));
            continue;
        }
        let child_own = own(player, limits).min(beyond(of_children.second, epsilon));
        let best = path.children[of_children.best];
        let child_other =
            remainder(own(other, limits), of_children.other, own(other, best.estimate.pair));
        path.enter(of_children.best, pair_of(player, child_own, child_other));
    }
    path.end(watch)
}

/// The least effort at which the search turns to the second best child: (1 + epsilon) times the
/// effort of that child, and more than that effort in any case.
fn beyond(second: Effort, epsilon: f64) -> Effort {
    let second = second.to_bits();
    let widened = (f64::from(second) * (1.0 + epsilon)).ceil() as u32;
    Effort::from_bits(widened.max(second.saturating_add(1)))
}

/// What is left of the limit on a sum for one of its terms.
fn remainder(limit: Effort, sum: Effort, term: Effort) -> Effort {
    if limit.is_infinite() {
        limit
    } else {
        Effort::from_bits(limit.to_bits() - sum.to_bits() + term.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wider_threshold_is_always_above_the_second_best() {
        let beyond = |n, epsilon| super::beyond(Effort::finite(n), epsilon);
        assert_eq!(beyond(1, 0.25), Effort::finite(2));
        assert_eq!(beyond(100, 0.25), Effort::finite(125));
        for epsilon in [0.0, -3.0, f64::NAN] {
            assert_eq!(beyond(100, epsilon), Effort::finite(101));
        }
        assert_eq!(beyond(100, f64::INFINITY), Effort::INFINITY);
        assert_eq!(beyond(u64::MAX, 0.0), Effort::INFINITY);
        assert_eq!(super::beyond(Effort::INFINITY, 0.0), Effort::INFINITY);
    }
}
