//! What PDS and df-pn have in common: they hold effort numbers of every child, and a node's follow
//! from them.

use jlpns_games::{Game, Player};

use super::{Child, Estimate, Path, Seen, Setting};
use crate::effort::EffortSum;
use crate::efforts::{for_player, pair_of, rank_effort};
use crate::{Effort, EffortPair};

/// The effort numbers of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub pair: EffortPair,
    /// The nodes spent on it so far, as far as is remembered.
    work: u32,
    /// Whether the child was ever searched, as far as is remembered, or seen to be solved.
    pub known: bool,
}

impl Estimate for Numbers {
    #[inline]
    fn of<G: Game>(setting: &Setting<'_, G>, seen: Seen) -> Numbers {
        match seen.verdict {
            Some(holds) => Numbers { pair: EffortPair::solved(holds), work: 1, known: true },
            None => {
                let pair = setting.frontier(seen.player, seen.resistance);
                Numbers { pair, work: 0, known: false }
            }
        }
    }

    #[inline]
    fn pair(&self) -> EffortPair {
        self.pair
    }

    #[inline]
    fn learn(&mut self, pair: EffortPair, spent: u64) -> u32 {
        let spent = spent.max(1).min(u64::from(u32::MAX)) as u32;
        *self = Numbers { pair, work: self.work.saturating_add(spent), known: true };
        self.work
    }
}

/// The numbers of the present node, from those of its children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfChildren {
    /// The least effort of the player to move: proof numbers for Max, disproof numbers for Min.
    pub own: Effort,
    /// The effort of the other player for all of them.
    pub other: Effort,
    /// The child with the least `own`, the first among equals.
    pub best: usize,
    /// The least `own` among the others.
    pub second: Effort,
}

/// The number in `pair` that `player` wants to be small.
#[inline]
pub(crate) fn own(player: Player, pair: EffortPair) -> Effort {
    for_player(player, pair).0
}

impl<'a, G: Game, N> Path<'a, G, Numbers, N> {
    /// The way that is only the root, expanded unless the game is over there.
    pub fn from_root(
        setting: Setting<'a, G>,
        start: &'a G::Position,
        own: N,
    ) -> Path<'a, G, Numbers, N> {
        let mut path: Self = Path::new(setting, start);
        if path.root.estimate.known || !look_up(&path.setting, &mut path.root) {
            path.nodes = 1;
        }
        let moves = path.root_moves();
        if !moves.is_empty() {
            path.has_progressed = !path.root.estimate.known;
            path.moves = moves;
            path.open_root(0, own);
            // The root tells of all its children, even if one is won.
            path.add_children(|_| false);
        }
        if path.root.estimate.pair.is_solved() {
            path.give_up();
        }
        path
    }

    /// Goes on to a child of the present node, and expands it.
    #[inline]
    pub fn enter(&mut self, child: usize, own: N) {
        self.has_progressed |= !self.children[child].estimate.known;
        self.go_to(child, own);
        let player = self.top().player;
        self.add_children(|pair| self::own(player, pair).is_zero());
    }

    /// Adds the children of the present node, up to the first one that decides it.
    #[inline]
    fn add_children(&mut self, decides: impl Fn(EffortPair) -> bool) {
        let first = self.children.len();
        let mut decided = false;
        for index in 0..self.moves.len() {
            let child = self.survey(self.moves[index]);
            self.children.push(child);
            decided = decides(child.estimate.pair);
            if decided {
                break;
            }
        }
        // The memory had the time of the surveys to come.
        for child in &mut self.children[first..] {
            let remembered = !decided && !child.estimate.known && look_up(&self.setting, child);
            self.nodes += u64::from(!self.setting.delayed && !remembered);
        }
        if self.setting.ranked && !decided {
            self.rank(first);
        }
        self.note_peak();
    }

    /// Raises the effort of children that were never searched, for the player to move, by how promising they are.
    #[inline]
    fn rank(&mut self, first: usize) {
        self.weigh(first, |_| 0);
        let player = self.top().player;
        for (child, &(_, promise)) in self.children[first..].iter_mut().zip(&self.promised) {
            if !child.estimate.known {
                let (own, other) = for_player(player, child.estimate.pair);
                let own = own.plus(Effort::finite(rank_effort(&self.promised, promise)));
                child.estimate.pair = pair_of(player, own, other);
            }
        }
    }

    /// What the children say of the present node.
    #[inline]
    pub fn of_children(&self) -> OfChildren {
        let frame = self.top();
        let player = frame.player;
        let mut sum = EffortSum::default();
        let (mut least, mut second) = (Effort::INFINITY, Effort::INFINITY);
        let mut best = frame.first;
        for (index, child) in (frame.first..).zip(&self.children[frame.first..]) {
            let (effort, other) = for_player(player, child.estimate.pair);
            sum.add(other);
            if effort < least {
                second = least;
                least = effort;
                best = index;
            } else if effort < second {
                second = effort;
            }
        }
        // A child that is won may have cut the others off; they would only add to the infinity.
        OfChildren { own: least, other: self.setting.for_all(sum), best, second }
    }

    /// Sets the numbers of a child that was searched otherwise than by entering it, with `spent`
    /// nodes, and has them remembered.
    pub fn settle(&mut self, child: usize, pair: EffortPair, spent: u64) {
        self.nodes += spent;
        self.has_progressed = true;
        let child = &mut self.children[child];
        let work = child.estimate.learn(pair, spent);
        self.setting.table.put(child.key, self.setting.threshold, pair, work);
    }
}

/// Takes over what the table knows of a child; whether it knows anything.
#[inline]
fn look_up<G: Game>(setting: &Setting<'_, G>, child: &mut Child<Numbers>) -> bool {
    let known = setting.look_up(child.key);
    if let Some(known) = known {
        child.estimate = Numbers { pair: known.pair, work: known.work, known: true };
    }
    known.is_some()
}
