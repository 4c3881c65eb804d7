//! Zero-window alpha-beta with the transposition table.
//!
//! One threshold has two answers, so a search is a depth-first search that leaves a node as soon
//! as one child is won for the player to move. A node is expanded in two passes over its children.
//! The first surveys each child ([`Game::survey`]), and plays on from it as long as there is only
//! one relevant move: so the child that is searched is the next position with a choice, and many
//! are decided before that. The second looks the others up in the table. One child that is known
//! to be won decides the node in either pass. The rest are searched, the most promising first; the
//! order is made between the two passes, in the time that the memory takes.
//!
//! It has no effort numbers of its own; what it reports of unsolved positions is the mobility
//! initialisation of the children and what follows from it.

use jlpns_games::{Game, MoveList, Player};

use crate::depth_first::{Child, Estimate, Frame, Path, Seen, Setting};
use crate::efforts::pair_of;
use crate::search_end::SearchEnd;
use crate::watch::Watch;
use crate::{Effort, EffortPair, Initialisation};

/// What alpha-beta holds of a child.
#[derive(Clone, Copy, Debug)]
struct Prospect {
    promise: i32,
    /// The effort number of the other player there.
    resistance: u16,
    /// Who is to move there.
    player: Player,
    /// The answer, if it is known.
    verdict: Option<bool>,
}

const _: () = assert!(size_of::<Child<Prospect>>() == 32);

impl Estimate for Prospect {
    #[inline]
    fn of<G: Game>(_: &Setting<'_, G>, seen: Seen) -> Prospect {
        let Seen { player, verdict, resistance, promise } = seen;
        let resistance = resistance.min(u32::from(u16::MAX)) as u16;
        Prospect { promise, resistance, player, verdict }
    }

    fn pair(&self) -> EffortPair {
        match self.verdict {
            Some(holds) => EffortPair::solved(holds),
            None => {
                let resistance = Effort::finite(u64::from(self.resistance.max(1)));
                pair_of(self.player, Effort::ONE, resistance)
            }
        }
    }

    #[inline]
    fn learn(&mut self, pair: EffortPair, spent: u64) -> u32 {
        self.verdict = pair.verdict();
        (spent + 1).min(u64::from(u32::MAX)) as u32
    }
}

/// Searches for one threshold, until it is answered or `watch` stops the search. The table keeps
/// what was solved.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    start: &G::Position,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    debug_assert!(!setting.delayed);
    let setting = Setting { initialisation: Initialisation::Mobility, ..setting };
    let mut path: Path<'_, G, Prospect> = Path::new(setting, start);
    path.begin();
    while let Some(&Frame { player, next, .. }) = path.present() {
        let mut open = path.children[next..].iter();
        let Some(skipped) = open.position(|child| child.estimate.verdict.is_none()) else {
            path.answer(player == Player::Min);
            continue;
        };
        // Only solved positions are remembered: a search that is stopped has solved one.
        if path.check(watch).is_break() {
            break;
        }
        path.go_to(next + skipped, ());
        if let Some(holds) = path.expand() {
            path.answer(holds);
        }
    }
    path.end(watch)
}

impl<G: Game> Path<'_, G, Prospect> {
    /// Begins with the root, unless it is answered at once, with all of its legal moves: the
    /// relevant ones to be searched, the others for the report.
    fn begin(&mut self) {
        self.nodes = 1;
        let legal = self.root_moves();
        if legal.is_empty() {
            return;
        }
        let mut relevant = MoveList::new();
        self.setting.relevant_moves(self.start, &mut relevant);
        let good = self.root.estimate.player == Player::Max;
        let mut answer = self.root.estimate.verdict;
        for &mv in legal.iter().filter(|mv| !relevant.contains(mv)).chain(&relevant) {
            let mut child = self.survey(mv);
            let verdict = &mut child.estimate.verdict;
            *verdict = verdict.or_else(|| remembered(&self.setting, child.key));
            self.nodes += u64::from(verdict.is_none());
            if *verdict == Some(good) {
                answer = Some(good);
            }
            self.children.push(child);
        }
        self.root.estimate.verdict = answer.or_else(|| remembered(&self.setting, self.root.key));
        if self.root.estimate.verdict.is_none() {
            let first = self.children.len() - relevant.len();
            self.order(first);
            self.follow_hints(first, good);
            self.open_root(first, ());
        }
    }

    /// Adds the children of the present node as far as they are open. The answer, if the node has it
    /// at once.
    #[inline]
    fn expand(&mut self) -> Option<bool> {
        let &Frame { player, first, .. } = self.top();
        let good = player == Player::Max;
        for index in 0..self.moves.len() {
            let child = self.survey(self.moves[index]);
            self.nodes += 1;
            match child.estimate.verdict {
                Some(holds) if holds == good => return Some(good),
                Some(_) => {}
                None => self.children.push(child),
            }
        }
        if self.children.len() - first > 1 {
            self.order(first);
        }
        // The memory had the time of the surveys and of the order to come.
        let mut open = first;
        for index in first..self.children.len() {
            let child = self.children[index];
            match remembered(&self.setting, child.key) {
                Some(holds) if holds == good => return Some(good),
                Some(_) => self.nodes -= 1,
                None => {
                    self.children[open] = child;
                    open += 1;
                }
            }
        }
        self.children.truncate(open);
        self.follow_hints(first, good);
        self.note_peak();
        (open == first).then_some(!good)
    }

    /// Puts the children from `first` on into order: the most promising first, among equals in the game's
    /// order.
    #[inline]
    fn order(&mut self, first: usize) {
        self.weigh(first, |seen| seen.promise);
        for (index, &(_, promise)) in (first..).zip(&self.promised) {
            let mut child = self.children[index];
            child.estimate.promise = promise;
            let mut at = index;
            while at > first && self.children[at - 1].estimate.promise < promise {
                self.children[at] = self.children[at - 1];
                at -= 1;
            }
            self.children[at] = child;
        }
    }

    /// Puts the first of the children from `first` on that is won for the player to move, as others say, before the
    /// rest.
    #[inline]
    fn follow_hints(&mut self, first: usize, good: bool) {
        let Some(hints) = self.setting.hints else { return };
        let threshold = self.setting.threshold;
        let is_said_to_win = |child: &Child<Prospect>| {
            let said = hints.get(child.key, threshold).and_then(|known| known.pair.verdict());
            said == Some(good)
        };
        if let Some(winning) = self.children[first..].iter().position(is_said_to_win) {
            self.children[first..=first + winning].rotate_right(1);
        }
    }

    /// Leaves the present node with its answer, and all nodes above that it decides.
    #[inline]
    fn answer(&mut self, holds: bool) {
        self.has_progressed = true;
        loop {
            self.leave(EffortPair::solved(holds));
            match self.present() {
                Some(parent) if holds == (parent.player == Player::Max) => {}
                _ => return,
            }
        }
    }
}

/// What the table knows of the answer in the position with this key.
#[inline]
fn remembered<G: Game>(setting: &Setting<'_, G>, key: u128) -> Option<bool> {
    setting.look_up(key).and_then(|known| known.pair.verdict())
}
