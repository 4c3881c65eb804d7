//! PDS, depth-first proof- and disproof-number search, and PDS-PN, which searches each node that
//! it meets for the first time with PN search (PDS-PN paper, sections 3.3 and 4, and appendix).
//!
//! Multiple iterative deepening: at every node the search raises the threshold of one child's
//! proof or disproof number by one, and returns when both numbers of the node have reached the
//! thresholds that its parent set. As in the appendix, a node is tested for the end of the game
//! when it is entered, and children that the table does not know start at 1 and 1.
//!
//! One deviation: a node looks its children up once, when it is entered, and then keeps their
//! numbers while it is on the way (see [`depth_first`](crate::depth_first)). In a table that
//! forgets, the appendix' look-up in every round would never end.

use std::ops::ControlFlow;

use jlpns_games::{Game, Player};

use crate::depth_first::{Child, Path, Setting, own, pair_of};
use crate::pn2::{Limits, NODE_BYTES, Start, nested};
use crate::search::{Growth, SearchEnd};
use crate::table::ENTRY_BYTES;
use crate::tree::Knowledge;
use crate::watch::Watch;
use crate::{Effort, EffortPair, Findings, Question};

/// The second level of PDS-PN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondLevel {
    /// How large it may grow, given the number of positions in the table (formula 2).
    pub growth: Growth,
    /// The bytes for both levels, the table included.
    pub memory: u64,
}

/// Searches for one threshold, until it is answered or `watch` stops the search: PDS-PN if there
/// is a second level, else PDS. What was found is in the table afterwards, so that the next
/// search goes on where this one stopped.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    position: &mut G::Position,
    second_level: Option<SecondLevel>,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    debug_assert!(setting.delayed);
    let mut path = Path::new(setting, position);
    path.set_thresholds(EffortPair::UNIT);
    // For each node on the way the greatest minimum over its children so far: children below it
    // count as equals, so that the search does not turn to and fro between them.
    let mut floors = vec![Effort::ZERO];
    while !path.is_over() {
        let player = path.player();
        let fold = path.fold();
        let solved = fold.own.is_zero() || fold.other.is_zero();
        let limits = path.thresholds();
        let (own_limit, other_limit) = (own(player, limits), own(player.opponent(), limits));
        let exceeded = fold.own >= own_limit && fold.other >= other_limit;
        if solved || path.check(watch) == ControlFlow::Break(()) || (exceeded && path.depth() > 1) {
            path.leave(pair_of(player, fold.own, fold.other), true);
            floors.pop();
            continue;
        }
        if exceeded {
            // The root asks itself for more, on the side that looks nearer to an answer.
            let pair = pair_of(player, fold.own, fold.other);
            path.set_thresholds(raised(pair, pair.proof <= pair.disproof));
            continue;
        }
        let floor = floors.last_mut().expect("one floor for each node on the way");
        *floor = (*floor).max(fold.own);
        let best = select(player, &path.children, path.first_child(), *floor);
        let child = path.children[best];
        let (child_own, child_other) =
            (own(player, child.pair), own(player.opponent(), child.pair));
        let raise_other =
            other_limit > fold.other && (child_other <= child_own || own_limit <= fold.own);
        let raise_proof = raise_other == (player == Player::Min);
        if !child.known {
            if let Some(outcome) = path.child_outcome(best) {
                path.settle(best, EffortPair::solved(path.setting.threshold.holds(outcome)), 1);
                continue;
            }
            if let Some(second_level) = second_level {
                let (pair, nodes) = second_level.search(&mut path, best, watch);
                path.settle(best, pair, nodes);
                continue;
            }
        }
        path.enter(best, raised(child.pair, raise_proof));
        path.nodes += 1;
        floors.push(own(path.player(), child.pair));
    }
    path.end(watch)
}

impl SecondLevel {
    /// Searches a child that was not met before: its numbers, and the nodes that were created.
    fn search<G: Game>(
        self,
        path: &mut Path<'_, G>,
        child: usize,
        watch: &mut Watch<'_>,
    ) -> (EffortPair, u64) {
        path.bring_up_to_date();
        let position = path.child_position(child);
        let path = &*path;
        let Path { setting, nodes, .. } = path;
        let stored = setting.table.len();
        let left = self.memory.saturating_sub(stored * ENTRY_BYTES) / NODE_BYTES;
        let limits =
            Limits { nodes: self.growth.second_level(stored, left) as usize, descents: u64::MAX };
        let knowledge = if setting.knowledge { Knowledge::Everywhere } else { Knowledge::Unused };
        let start = Start {
            question: Question::Threshold(setting.threshold),
            initialisation: setting.initialisation,
            knowledge,
        };
        let nested = nested(setting.game, position, start, limits, &mut |created| {
            let now = nodes + created;
            watch.check(now, true, &|| Findings { nodes: now, ..path.findings() })
        });
        (nested.findings.efforts[0], nested.findings.nodes)
    }
}

/// The child to enter: the least effort for the player to move, where efforts below `floor` count
/// as `floor`; among equals the least effort for the other player.
fn select(player: Player, children: &[Child], first: usize, floor: Effort) -> usize {
    let rank =
        |child: &Child| (own(player, child.pair).max(floor), own(player.opponent(), child.pair));
    let ranked = (first..).zip(&children[first..]);
    ranked.min_by_key(|(_, child)| rank(child)).map_or(first, |(index, _)| index)
}

/// One of the two numbers raised by one.
fn raised(pair: EffortPair, raise_proof: bool) -> EffortPair {
    let raise = |effort: Effort| Effort::from_bits(effort.to_bits().saturating_add(1));
    if raise_proof {
        EffortPair { proof: raise(pair.proof), ..pair }
    } else {
        EffortPair { disproof: raise(pair.disproof), ..pair }
    }
}
