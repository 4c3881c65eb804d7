//! What the depth-first searches share: the way from the root to the present node, with the
//! children of every node on it.
//!
//! The searches differ in which child they enter, and when they leave a node; see [`dfpn`],
//! [`pds`] and [`alpha_beta`].
//!
//! The way is a stack of its own, so that long games do not overflow the thread's. The children
//! of the nodes on it are evaluated once, when the node is entered, and keep their numbers while
//! it is there: the transposition table may forget what it likes, and every return to a node on
//! the way still brings it nearer to its thresholds. That is why a search with a table that is
//! too small is slow, but ends.
//!
//! [`dfpn`]: crate::dfpn
//! [`pds`]: crate::pds
//! [`alpha_beta`]: crate::alpha_beta

mod children;

use std::ops::ControlFlow;

pub(crate) use children::{Child, Setting};
use jlpns_games::{Game, Move, MoveList, Outcome, Player};

use crate::effort::EffortSum;
use crate::efforts::{best_move, for_player};
use crate::search::{SearchEnd, Statistics};
use crate::watch::Watch;
use crate::{ChildFindings, Effort, EffortPair, Findings};

/// A node on the way.
struct Frame {
    player: Player,
    thresholds: EffortPair,
    /// Where in [`Path::children`] its children begin; they end where the next frame's begin.
    first: usize,
    /// The child that the way goes through.
    current: usize,
    nodes_before: u64,
    /// The length of the line of play before the move to it.
    line: usize,
}

/// The way from the root to the present node.
pub(crate) struct Path<'a, G: Game> {
    pub setting: Setting<'a, G>,
    pub position: &'a mut G::Position,
    root: Child,
    root_children: usize,
    frames: Vec<Frame>,
    pub children: Vec<Child>,
    /// The moves from the root to the present position.
    line: Vec<Move>,
    moves: MoveList,
    /// Nodes created so far.
    pub nodes: u64,
    /// Nodes expanded so far, without the root.
    descents: u64,
    /// Nodes expanded that were not known before: a search that is stopped has done one at least.
    fresh: u64,
    peak_nodes: u64,
}

/// The numbers of the present node, from those of its children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// The least effort of the player to move: proof numbers for Max, disproof numbers for Min.
    pub own: Effort,
    /// The summed effort of the other player.
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

/// The pair in which `own` is the number that `player` wants to be small.
#[inline]
pub(crate) fn pair_of(player: Player, own: Effort, other: Effort) -> EffortPair {
    match player {
        Player::Max => EffortPair { proof: own, disproof: other },
        Player::Min => EffortPair { proof: other, disproof: own },
    }
}

impl<'a, G: Game> Path<'a, G> {
    /// The way that is only the root, expanded unless the game is over there.
    pub fn new(setting: Setting<'a, G>, position: &'a mut G::Position) -> Path<'a, G> {
        let mut root = setting.new_child(position, Move(0), false);
        if setting.knowledge && !root.known {
            let verdict = setting.game.static_bounds(position).verdict(setting.threshold);
            if let Some(holds) = verdict {
                root.pair = EffortPair::solved(holds);
                root.known = true;
            }
        }
        let mut path = Path {
            root,
            root_children: 0,
            frames: Vec::new(),
            children: Vec::new(),
            line: Vec::new(),
            moves: MoveList::new(),
            nodes: 0,
            descents: 0,
            fresh: 0,
            peak_nodes: 0,
            setting,
            position,
        };
        if path.root.known || !path.setting.look_up(&mut path.root) {
            path.nodes = 1;
        }
        if path.setting.game.outcome(path.position).is_none() {
            path.expand(EffortPair { proof: Effort::INFINITY, disproof: Effort::INFINITY }, 0);
            path.fresh += u64::from(!path.root.known);
            path.root_children = path.children.len();
            if path.root.pair.is_solved() {
                path.frames.clear();
            }
        }
        path
    }

    /// Whether the way has come back to above the root: the search is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.frames.is_empty()
    }

    /// The number of nodes on the way.
    #[inline]
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Who is to move in the present node.
    #[inline]
    pub fn player(&self) -> Player {
        self.top().player
    }

    /// The thresholds of the present node.
    #[inline]
    pub fn thresholds(&self) -> EffortPair {
        self.top().thresholds
    }

    /// Gives the present node other thresholds.
    pub fn set_thresholds(&mut self, thresholds: EffortPair) {
        if let Some(frame) = self.frames.last_mut() {
            frame.thresholds = thresholds;
        }
    }

    /// Where the children of the present node begin; they go on to the end of the children.
    #[inline]
    pub fn first_child(&self) -> usize {
        self.top().first
    }

    #[inline]
    fn top(&self) -> &Frame {
        self.frames.last().expect("a search that is over asks for no node")
    }

    /// What the children say of the present node.
    #[inline]
    pub fn fold(&self) -> Fold {
        let frame = self.top();
        fold(frame.player, &self.children, frame.first..self.children.len())
    }

    /// Goes on to a child of the present node, and expands it.
    #[inline]
    pub fn enter(&mut self, child: usize, thresholds: EffortPair) {
        let known = self.children[child].known;
        self.frames.last_mut().expect("there is a present node").current = child;
        let line = self.line.len();
        self.play_to(child);
        self.descents += 1;
        self.fresh += u64::from(!known);
        self.expand(thresholds, line);
    }

    /// Plays the moves to a child of the present node.
    #[inline]
    fn play_to(&mut self, child: usize) {
        let Child { mut mv, forced, .. } = self.children[child];
        for remaining in (0..=forced).rev() {
            self.setting.game.play(self.position, mv);
            self.line.push(mv);
            if remaining > 0 {
                self.moves.clear();
                self.setting.game.relevant_moves(self.position, &mut self.moves);
                mv = self.moves[0];
            }
        }
    }

    /// Takes back moves until the line of play has this length.
    #[inline]
    fn take_back(&mut self, length: usize) {
        while self.line.len() > length {
            let mv = self.line.pop().expect("the line is longer");
            self.setting.game.undo(self.position, mv);
        }
    }

    /// Goes back from the present node with the numbers that were found, and remembers them if
    /// `keep` says so.
    #[inline]
    pub fn leave(&mut self, pair: EffortPair, keep: bool) {
        let frame = self.frames.pop().expect("there is a present node");
        let spent = (self.nodes - frame.nodes_before).max(1).min(u64::from(u32::MAX)) as u32;
        let node = match self.frames.last() {
            Some(parent) => &mut self.children[parent.current],
            None => &mut self.root,
        };
        node.pair = pair;
        node.known = true;
        node.work = node.work.saturating_add(spent);
        let Child { key, work, .. } = *node;
        if keep {
            self.setting.table.put(key, self.setting.threshold, pair, work);
        }
        if !self.frames.is_empty() {
            self.take_back(frame.line);
            self.children.truncate(frame.first);
        }
    }

    /// The outcome of a child where the game is over.
    #[inline]
    pub fn child_outcome(&mut self, child: usize) -> Option<Outcome> {
        let line = self.line.len();
        self.play_to(child);
        let outcome = self.setting.game.outcome(self.position);
        self.take_back(line);
        outcome
    }

    /// The position of a child.
    pub fn child_position(&mut self, child: usize) -> G::Position {
        let line = self.line.len();
        self.play_to(child);
        let position = self.position.clone();
        self.take_back(line);
        position
    }

    /// Sets the numbers of a child that was searched otherwise than by entering it, with `spent`
    /// nodes, and remembers them.
    pub fn settle(&mut self, child: usize, pair: EffortPair, spent: u64) {
        self.nodes += spent;
        self.fresh += 1;
        let child = &mut self.children[child];
        child.pair = pair;
        child.known = true;
        child.work = child.work.saturating_add(spent.min(u64::from(u32::MAX)) as u32);
        self.setting.table.put(child.key, self.setting.threshold, pair, child.work);
    }

    /// Whether the search has to stop, by its limits or because the observer wants it; then all
    /// nodes on the way are to be left with the numbers that they have.
    #[inline]
    pub fn check(&mut self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        if self.nodes < watch.due() {
            return ControlFlow::Continue(());
        }
        self.bring_up_to_date();
        // A search that always gets further by one node ends, however often it is stopped.
        watch.check(self.nodes, self.fresh > 0, &|| self.findings())
    }

    /// Folds the numbers of all nodes on the way, from the present node up, for
    /// [`Path::findings`].
    pub fn bring_up_to_date(&mut self) {
        for depth in (0..self.frames.len()).rev() {
            let frame = &self.frames[depth];
            let end = self.frames.get(depth + 1).map_or(self.children.len(), |next| next.first);
            let numbers = fold(frame.player, &self.children, frame.first..end);
            let pair = pair_of(frame.player, numbers.own, numbers.other);
            match depth.checked_sub(1) {
                Some(parent) => self.children[self.frames[parent].current].pair = pair,
                None => self.root.pair = pair,
            }
        }
    }

    /// Pushes a frame for the present position with its children.
    fn expand(&mut self, thresholds: EffortPair, line: usize) {
        let player = self.setting.game.to_move(self.position);
        let first = self.children.len();
        let is_root = self.frames.is_empty();
        self.frames.push(Frame {
            player,
            thresholds,
            first,
            current: first,
            nodes_before: self.nodes,
            line,
        });
        self.moves.clear();
        if self.setting.knowledge && !is_root {
            self.setting.game.relevant_moves(self.position, &mut self.moves);
        } else {
            self.setting.game.moves(self.position, &mut self.moves);
        }
        let mut decided = false;
        for index in 0..self.moves.len() {
            let mv = self.moves[index];
            let child = self.create_child(mv);
            self.children.push(child);
            // One child that is won decides the node; the root tells of all its children.
            decided = own(player, child.pair).is_zero() && !is_root;
            if decided {
                break;
            }
        }
        // The memory had the time of the surveys to come.
        for child in &mut self.children[first..] {
            let remembered = !decided && !child.known && self.setting.look_up(child);
            self.nodes += u64::from(!self.setting.delayed && !remembered);
        }
        self.peak_nodes = self.peak_nodes.max(self.children.len() as u64);
    }

    /// The child that `mv` leads to, as it is without the table.
    #[inline]
    fn create_child(&mut self, mv: Move) -> Child {
        let setting = &self.setting;
        if setting.knowledge {
            let line = self.line.len();
            let child = setting.surveyed_child(self.position, mv, &mut self.line);
            self.take_back(line);
            child
        } else {
            setting.game.play(self.position, mv);
            let child = setting.new_child(self.position, mv, setting.delayed);
            setting.game.undo(self.position, mv);
            child
        }
    }

    /// What is known now. In the middle of a search [`Path::bring_up_to_date`] comes first.
    pub fn findings(&self) -> Findings {
        let mut position = self.position.clone();
        self.line.iter().rev().for_each(|&mv| self.setting.game.undo(&mut position, mv));
        let mut moves = MoveList::new();
        if self.root_children > 0 {
            self.setting.game.moves(&position, &mut moves);
        }
        let known = &self.children[..self.root_children];
        let children: Vec<ChildFindings> = moves
            .iter()
            .filter_map(|&mv| known.iter().find(|child| child.mv == mv))
            .map(|child| ChildFindings { mv: child.mv, efforts: vec![child.pair] })
            .collect();
        Findings {
            efforts: vec![self.root.pair],
            best_move: best_move(
                self.setting.game.to_move(&position),
                &[self.root.pair],
                &children,
            ),
            children,
            nodes: self.nodes,
        }
    }

    /// The end of a search that has come back to above the root.
    pub fn end(self, watch: &Watch<'_>) -> SearchEnd {
        debug_assert!(self.is_over());
        let findings = self.findings();
        SearchEnd {
            stopped: watch.stopped().filter(|_| !self.root.pair.is_solved()),
            statistics: Statistics {
                descents: self.descents,
                nodes: self.nodes,
                peak_nodes: self.peak_nodes + self.setting.table.len(),
            },
            findings,
        }
    }
}

#[inline]
fn fold(player: Player, children: &[Child], range: std::ops::Range<usize>) -> Fold {
    let mut sum = EffortSum::default();
    let (mut least, mut second) = (Effort::INFINITY, Effort::INFINITY);
    let mut best = range.start;
    for (index, child) in range.clone().zip(&children[range]) {
        let effort = own(player, child.pair);
        sum.add(own(player.opponent(), child.pair));
        if effort < least {
            second = least;
            least = effort;
            best = index;
        } else if effort < second {
            second = effort;
        }
    }
    // A child that is won may have cut the others off; they would only add to the infinity.
    Fold { own: least, other: sum.total(), best, second }
}
