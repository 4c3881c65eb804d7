//! What the depth-first searches share: the way from the root to the present node, with the
//! children of every node on it.
//!
//! The searches differ in what they hold of a child ([`Estimate`]), which child they enter, and when
//! they leave a node: [`alpha_beta`], and, with effort numbers ([`numbers`]), [`dfpn`] and [`pds`].
//!
//! - [`children`]: how a position is seen for the first time, and what the table knows of it.
//! - [`line`]: the present position, forced moves, and the way back.
//! - [`findings`]: what is reported of the root.
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
mod findings;
mod line;
mod numbers;

use std::ops::ControlFlow;

pub(crate) use children::{Child, Estimate, Seen, Setting};
use jlpns_games::{Game, Move, MoveList, Player};
use line::{Line, Mark};
pub(crate) use numbers::{Numbers, own};

use crate::EffortPair;
use crate::watch::Watch;

/// A node on the way, with what its search keeps of it (`N`).
pub(crate) struct Frame<N> {
    pub player: Player,
    /// Where in [`Path::children`] its children begin; they end where the next frame's begin.
    pub first: usize,
    /// One after the child that the way goes through.
    pub next: usize,
    nodes_before: u64,
    /// Where the way was before it came here.
    mark: Mark,
    pub own: N,
}

/// The way from the root to the present node.
pub(crate) struct Path<'a, G: Game, E, N = ()> {
    pub setting: Setting<'a, G>,
    /// The position of the root.
    pub start: &'a G::Position,
    pub root: Child<E>,
    frames: Vec<Frame<N>>,
    pub children: Vec<Child<E>>,
    line: Line<G>,
    /// The moves of the node that was entered last.
    pub moves: MoveList,
    /// The moves that were weighed last, with what they promise.
    pub promised: Vec<(Move, i32)>,
    /// Nodes created so far.
    pub nodes: u64,
    /// Nodes expanded so far, without the root.
    descents: u64,
    /// Whether the search found out something that the table did not know.
    pub has_progressed: bool,
    /// The most children that were there at one time.
    peak: usize,
}

impl<'a, G: Game, E: Estimate, N> Path<'a, G, E, N> {
    /// The way that is only the root, which is not expanded yet.
    pub fn new(setting: Setting<'a, G>, start: &'a G::Position) -> Path<'a, G, E, N> {
        let survey = setting.survey(start, &mut G::Notes::default());
        let verdict = match setting.game.outcome(start) {
            Some(outcome) => Some(setting.threshold.holds(outcome)),
            None => survey.bounds.verdict(setting.threshold),
        };
        let seen = Seen {
            player: setting.game.to_move(start),
            verdict,
            resistance: survey.resistance,
            promise: survey.promise,
        };
        let estimate = E::of(&setting, seen);
        let key = setting.key(start);
        Path {
            root: Child { key, estimate, place: 0, mv: Move(0), forced: 0 },
            frames: Vec::new(),
            children: Vec::new(),
            line: Line::new(start.clone()),
            moves: MoveList::new(),
            promised: Vec::new(),
            nodes: 0,
            descents: 0,
            has_progressed: false,
            peak: 0,
            setting,
            start,
        }
    }

    /// The root's legal moves; none if the game is over there.
    pub fn root_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        if self.setting.game.outcome(self.start).is_none() {
            self.setting.game.moves(self.start, &mut moves);
        }
        moves
    }

    /// Begins the way with the root. Its children that are to be searched begin at `first`; those
    /// before it are there for the report.
    pub fn open_root(&mut self, first: usize, own: N) {
        let player = self.setting.game.to_move(self.start);
        let (nodes_before, mark) = (self.nodes, self.line.mark());
        self.frames.push(Frame { player, first, next: first, nodes_before, mark, own });
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

    /// The present node, if the search is not over.
    #[inline]
    pub fn present(&self) -> Option<&Frame<N>> {
        self.frames.last()
    }

    /// The present node.
    #[inline]
    pub fn top(&self) -> &Frame<N> {
        self.frames.last().expect("a search that is over asks for no node")
    }

    /// The present node, to be changed.
    #[inline]
    pub fn top_mut(&mut self) -> &mut Frame<N> {
        self.frames.last_mut().expect("a search that is over changes no node")
    }

    /// The child that a move of the present node leads to, which was entered right now, as it is
    /// without the table.
    #[inline]
    pub fn survey(&mut self, mv: Move) -> Child<E> {
        self.line.survey(&self.setting, mv)
    }

    /// Puts into [`Path::promised`] how promising the moves to the children from `first` on are: as they are seen, unless
    /// the game is asked for what it knows and looks closer. The present node must have been entered right now, or be
    /// the root that is not open yet.
    #[inline]
    pub fn weigh(&mut self, first: usize, seen: impl Fn(&E) -> i32) {
        let children = self.children[first..].iter();
        self.promised.clear();
        self.promised.extend(children.map(|child| (child.mv, seen(&child.estimate))));
        if self.setting.knowledge {
            self.setting.game.promises(&self.line.position, &mut self.promised);
        }
    }

    /// Goes on to a child of the present node. Its relevant moves are in [`Path::moves`], its
    /// children are still to be added.
    #[inline]
    pub fn go_to(&mut self, child: usize, own: N) {
        self.top_mut().next = child + 1;
        let mark = self.line.mark();
        self.line.go_to(&self.setting, &self.children[child]);
        let position = &self.line.position;
        self.moves.clear();
        self.setting.relevant_moves(position, &mut self.moves);
        self.descents += 1;
        let player = self.setting.game.to_move(position);
        let (first, nodes_before) = (self.children.len(), self.nodes);
        self.frames.push(Frame { player, first, next: first, nodes_before, mark, own });
    }

    /// Asks something of the position of a child of the present node.
    #[inline]
    pub fn ask<R>(&mut self, child: usize, question: impl FnOnce(&G::Position) -> R) -> R {
        self.line.ask(&self.setting, &self.children[child], question)
    }

    /// Notes how many children there are.
    #[inline]
    pub fn note_peak(&mut self) {
        self.peak = self.peak.max(self.children.len());
    }

    /// Goes back from the present node with the numbers that were found, and has them remembered.
    #[inline]
    pub fn leave(&mut self, pair: EffortPair) {
        let frame = self.frames.pop().expect("there is a present node");
        let spent = self.nodes - frame.nodes_before;
        let node = match self.frames.last() {
            Some(parent) => &mut self.children[parent.next - 1],
            None => &mut self.root,
        };
        let work = node.estimate.learn(pair, spent);
        self.setting.table.put(node.key, self.setting.threshold, pair, work);
        // The root's children stay, for the report.
        if !self.frames.is_empty() {
            self.line.back_to(self.setting.game, frame.mark);
            self.children.truncate(frame.first);
        }
    }

    /// Ends the way where it is: nothing is remembered of the nodes on it.
    pub fn give_up(&mut self) {
        self.frames.clear();
    }

    /// Whether the search has to stop, by its limits or because the observer wants it.
    #[inline]
    pub fn check(&self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        if self.nodes < watch.due() { ControlFlow::Continue(()) } else { self.ask_watch(watch) }
    }

    #[cold]
    fn ask_watch(&self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        // A search that always gets further by one node ends, however often it is stopped.
        watch.check(self.nodes, self.has_progressed, &|| self.findings())
    }
}
