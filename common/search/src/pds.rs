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
//!
//! With the game's knowledge, so not for the papers' figures, a number that sums the children's leaves out a part of
//! what these have in common (`Setting::overlapping`): in games where many ways lead to a position, a
//! sum counts most of it more than once.

use std::ops::ControlFlow;

use jlpns_games::{Game, Player};

use crate::depth_first::{Child, Frame, Numbers, Path, Setting, own};
use crate::efforts::{for_player, pair_of};
use crate::growth::Growth;
use crate::nested::{self, NODE_BYTES, Start, nested};
use crate::search_end::SearchEnd;
use crate::table::ENTRY_BYTES;
use crate::tree::KnowledgeUse;
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

/// What PDS keeps of a node on the way.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The search stays below the node until its numbers reach both of these.
    thresholds: EffortPair,
    /// The greatest minimum over its children so far: children below it count as equals, so that
    /// the search does not turn to and fro between them.
    floor: Effort,
}

/// Searches for one threshold, until it is answered or `watch` stops the search: PDS-PN if there
/// is a second level, else PDS. What was found is in the table afterwards, so that the next
/// search goes on where this one stopped.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    start: &G::Position,
    second_level: Option<SecondLevel>,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    debug_assert!(setting.delayed);
    let limits = Limits { thresholds: EffortPair::UNIT, floor: Effort::ZERO };
    let mut path: Path<'_, G, Numbers, Limits> = Path::from_root(setting, start, limits);
    while !path.is_over() {
        let &Frame { player, own: limits, first, .. } = path.top();
        let of_children = path.of_children();
        let solved = of_children.own.is_zero() || of_children.other.is_zero();
        let own_limit = own(player, limits.thresholds);
        let other_limit = own(player.opponent(), limits.thresholds);
        let exceeded = of_children.own >= own_limit && of_children.other >= other_limit;
        if solved || path.check(watch) == ControlFlow::Break(()) || (exceeded && path.depth() > 1) {
            path.leave(pair_of(player, of_children.own, of_children.other));
            continue;
        }
        if exceeded {
            // The root asks itself for more, on the side that looks nearer to an answer.
            let pair = pair_of(player, of_children.own, of_children.other);
            path.top_mut().own.thresholds = raised(pair, pair.proof <= pair.disproof);
            continue;
        }
        let floor = limits.floor.max(of_children.own);
        path.top_mut().own.floor = floor;
        let best = select(player, &path.children, first, floor);
        let Numbers { pair, known, .. } = path.children[best].estimate;
        let (child_own, child_other) = (own(player, pair), own(player.opponent(), pair));
        let raise_other = other_limit > of_children.other
            && (child_other <= child_own || own_limit <= of_children.own);
        let raise_proof = raise_other == (player == Player::Min);
        if !known {
            let game = path.setting.game;
            if let Some(outcome) = path.ask(best, |position| game.outcome(position)) {
                path.settle(best, EffortPair::solved(path.setting.threshold.holds(outcome)), 1);
                continue;
            }
            if let Some(second_level) = second_level {
                let (pair, nodes) = second_level.search(&mut path, best, watch);
                path.settle(best, pair, nodes);
                continue;
            }
        }
        path.enter(best, Limits { thresholds: raised(pair, raise_proof), floor: Effort::ZERO });
        path.nodes += 1;
        let entered = path.top_mut();
        entered.own.floor = own(entered.player, pair);
    }
    path.end(watch)
}

impl SecondLevel {
    /// Searches a child that was not met before: its numbers, and the nodes that were created.
    fn search<G: Game>(
        self,
        path: &mut Path<'_, G, Numbers, Limits>,
        child: usize,
        watch: &mut Watch<'_>,
    ) -> (EffortPair, u64) {
        let position = path.ask(child, G::Position::clone);
        let path = &*path;
        let Path { setting, nodes, .. } = path;
        let stored = setting.table.len();
        let left = self.memory.saturating_sub(stored * ENTRY_BYTES) / NODE_BYTES;
        let nodes_left = self.growth.second_level(stored, left) as usize;
        let limits = nested::Limits { nodes: nodes_left, descents: u64::MAX };
        let knowledge =
            if setting.knowledge { KnowledgeUse::Everywhere } else { KnowledgeUse::Unused };
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
fn select(player: Player, children: &[Child<Numbers>], first: usize, floor: Effort) -> usize {
    let (mut best, mut least) = (first, u64::MAX);
    for (index, child) in (first..).zip(&children[first..]) {
        let (own, other) = for_player(player, child.estimate.pair);
        // Both in one number, which is compared at once.
        let rank = u64::from(own.max(floor).to_bits()) << 32 | u64::from(other.to_bits());
        if rank < least {
            (best, least) = (index, rank);
        }
    }
    best
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
