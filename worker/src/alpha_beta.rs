//! Zero-window alpha-beta with the transposition table: the baseline that the other searches are
//! compared with.
//!
//! One threshold has two answers, so a search is a depth-first search that leaves a node as soon
//! as one child is won for the player to move. Children are evaluated when they are created, and
//! one that the table knows to be won decides the node at once. The others are tried by the number
//! of replies, fewest first, and among equals the move first that decided most nodes so far
//! (history heuristic).
//!
//! It has no effort numbers of its own; what it reports of unsolved positions is the mobility
//! initialisation of the children and what follows from it.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use jlpns_common::{Effort, EffortPair, Game, Initialisation, Move, Player};

use crate::depth_first::{Path, Setting, own, pair_of};
use crate::search::SearchEnd;
use crate::watch::Watch;

/// Searches for one threshold, until it is answered or `watch` stops the search. The table keeps
/// what was solved.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    position: &mut G::Position,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    debug_assert!(!setting.delayed);
    // The order of the children, and all that is known of unsolved ones.
    let setting = Setting { initialisation: Initialisation::Mobility, ..setting };
    let no_limit = EffortPair { proof: Effort::INFINITY, disproof: Effort::INFINITY };
    let mut history = History::default();
    let mut solved = 0u64;
    let mut path = Path::new(setting, position);
    if !path.is_over() {
        path.sort_children(|player, child| history.rank(player, child));
    }
    while !path.is_over() {
        let player = path.player();
        let children = &path.children[path.first_child()..];
        if let Some(winner) = children.iter().find(|c| own(player, c.pair).is_zero()) {
            history.decided(player, winner.mv);
            path.leave(pair_of(player, Effort::ZERO, Effort::INFINITY), true);
            solved += 1;
        } else if let Some(open) = children.iter().position(|c| !c.pair.is_solved()) {
            // Only solved positions are remembered: a search that is stopped has solved one.
            if solved > 0 && path.check(watch) == ControlFlow::Break(()) {
                let fold = path.fold();
                path.leave(pair_of(player, fold.own, fold.other), false);
                continue;
            }
            path.enter(path.first_child() + open, no_limit);
            path.sort_children(|player, child| history.rank(player, child));
        } else {
            path.leave(pair_of(player, Effort::INFINITY, Effort::ZERO), true);
            solved += 1;
        }
    }
    path.end(watch)
}

/// How many nodes each move has decided, for each player.
#[derive(Default)]
struct History {
    decisions: [Vec<u32>; 2],
}

impl History {
    fn decided(&mut self, player: Player, mv: Move) {
        let decisions = &mut self.decisions[player as usize];
        let code = usize::from(mv.0);
        if decisions.len() <= code {
            decisions.resize(code + 1, 0);
        }
        decisions[code] = decisions[code].saturating_add(1);
    }

    /// Children with lower ranks come first.
    fn rank(&self, player: Player, child: &crate::depth_first::Child) -> (Effort, Reverse<u32>) {
        let decisions = self.decisions[player as usize].get(usize::from(child.mv.0));
        (own(player, child.pair), Reverse(decisions.copied().unwrap_or(0)))
    }
}
