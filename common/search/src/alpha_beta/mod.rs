//! Zero-window alpha-beta with the transposition table.
//!
//! One threshold has two answers, so a search is a depth-first search that leaves a node as soon
//! as one child is won for the player to move. A node is expanded in two passes over its children.
//! The first surveys each child ([`Game::survey`]), and plays on from it as long as there is only
//! one relevant move: so the child that is searched is the next position with a choice, and many
//! are decided before that. The second looks the others up in the table. One child that is known
//! to be won decides the node in either pass. The rest are searched, the most promising first.
//!
//! Positions that own no memory are copied rather than played and taken back: the position of each
//! child is kept beside it. Others, such as Woodpush's with their history, are played and undone.
//!
//! It has no effort numbers of its own; what it reports of unsolved positions is the mobility
//! initialisation of the children and what follows from it.

mod findings;

use std::mem::needs_drop;
use std::ops::ControlFlow;

use jlpns_games::{Bounds, Game, Move, MoveList, Player, Survey, Threshold};

use crate::search::{SearchEnd, Statistics};
use crate::watch::Watch;
use crate::{EffortPair, TranspositionTable};

/// What stays the same during a search for one threshold.
pub(crate) struct Setting<'a, G: Game> {
    pub game: &'a G,
    pub table: &'a TranspositionTable,
    pub threshold: Threshold,
    /// Whether the game is asked for more than its rules.
    pub knowledge: bool,
}

impl<G: Game> Setting<'_, G> {
    #[inline]
    fn survey(&self, position: &G::Position) -> Survey {
        if self.knowledge {
            return self.game.survey(position, self.threshold.relevancy_bounds());
        }
        let (bounds, resistance) = match self.game.outcome(position) {
            Some(outcome) => (Bounds::exactly(outcome), 0),
            None => (self.game.scale().bounds(), self.game.mobility(position)),
        };
        Survey { bounds, resistance, forced: None, promise: -(resistance as i32) }
    }

    #[inline]
    fn relevant_moves(&self, position: &G::Position, moves: &mut MoveList) {
        if self.knowledge {
            self.game.relevant_moves(position, moves);
        } else {
            self.game.moves(position, moves);
        }
    }

    #[inline]
    fn key(&self, position: &G::Position) -> u128 {
        self.game.key(position).into()
    }

    /// What the table knows of the answer in the position with this key.
    #[inline]
    fn remembered(&self, key: u128) -> Option<bool> {
        self.table.get(key, self.threshold).and_then(|known| known.pair.verdict())
    }
}

/// A child of a node on the way.
#[derive(Clone, Copy, Debug)]
struct Child {
    /// The key of the position with a choice to which it leads.
    key: u128,
    promise: i32,
    mv: Move,
    /// The place of that position in `positions`, if they are copied.
    place: u32,
    /// How many forced moves follow `mv` on the way to that position.
    forced: u16,
    /// The effort number of the other player there.
    resistance: u16,
    /// Who is to move there.
    player: Player,
    /// The answer, if it is known.
    verdict: Option<bool>,
}

const _: () = assert!(size_of::<Child>() == 32);

/// A node on the way.
struct Frame {
    player: Player,
    key: u128,
    /// Where in `children` its children begin.
    first: usize,
    /// Where the children end that are to be searched.
    end: usize,
    /// The child to be searched next; the way goes through the one before it.
    next: usize,
    /// The length of the line of play when it was entered.
    line: usize,
    /// Where its children's positions begin.
    first_place: usize,
    nodes_before: u64,
}

struct Search<'a, G: Game> {
    setting: Setting<'a, G>,
    root: G::Position,
    position: &'a mut G::Position,
    frames: Vec<Frame>,
    children: Vec<Child>,
    /// The positions of the children, if they are copied.
    positions: Vec<G::Position>,
    /// The moves from the root to the present position, if they are played and taken back.
    line: Vec<Move>,
    moves: MoveList,
    root_children: usize,
    nodes: u64,
    descents: u64,
    /// Nodes whose answer was found by searching: what the table has learnt.
    solved: u64,
    peak: usize,
}

/// Searches for one threshold, until it is answered or `watch` stops the search. The table keeps
/// what was solved.
pub(crate) fn search<G: Game>(
    setting: Setting<'_, G>,
    position: &mut G::Position,
    watch: &mut Watch<'_>,
) -> SearchEnd {
    let mut search = Search {
        setting,
        root: position.clone(),
        position,
        frames: Vec::new(),
        children: Vec::new(),
        positions: Vec::new(),
        line: Vec::new(),
        moves: MoveList::new(),
        root_children: 0,
        nodes: 1,
        descents: 0,
        solved: 0,
        peak: 0,
    };
    let mut answer = search.open_root();
    if answer.is_none() {
        answer = search.run(watch);
    }
    let findings = search.findings(answer);
    *search.position = search.root.clone();
    SearchEnd {
        stopped: watch.stopped().filter(|_| answer.is_none()),
        statistics: Statistics {
            descents: search.descents,
            nodes: search.nodes,
            peak_nodes: search.peak as u64 + search.setting.table.len(),
        },
        findings,
    }
}

impl<G: Game> Search<'_, G> {
    /// Whether positions are copied.
    const COPIED: bool = !needs_drop::<G::Position>();

    /// Makes the root's frame, unless the game is over there, with all of its legal moves: the
    /// relevant ones to be searched, the others for the report. The answer, if it is known now.
    fn open_root(&mut self) -> Option<bool> {
        let game = self.setting.game;
        if let Some(outcome) = game.outcome(self.position) {
            return Some(self.setting.threshold.holds(outcome));
        }
        let mut legal = MoveList::new();
        game.moves(self.position, &mut legal);
        let mut relevant = MoveList::new();
        let survey = self.setting.survey(self.position);
        self.setting.relevant_moves(self.position, &mut relevant);
        let key = self.setting.key(self.position);
        let player = game.to_move(self.position);
        let good = player == Player::Max;
        let mut answer = survey.bounds.verdict(self.setting.threshold);
        for &mv in relevant.iter().chain(legal.iter().filter(|mv| !relevant.contains(mv))) {
            let mut child = self.survey_child(mv);
            if child.verdict.is_none() {
                child.verdict = self.setting.remembered(child.key);
            }
            self.nodes += u64::from(child.verdict.is_none());
            if child.verdict == Some(good) {
                answer = Some(good);
            }
            self.children.push(child);
        }
        self.root_children = self.children.len();
        let end = relevant.len();
        if answer.is_none() {
            answer = self.setting.remembered(key);
        }
        self.children[..end].sort_by_key(|child| std::cmp::Reverse(child.promise));
        let nodes_before = self.nodes;
        self.frames.push(Frame {
            player,
            key,
            first: 0,
            end,
            next: 0,
            line: 0,
            first_place: 0,
            nodes_before,
        });
        answer
    }

    /// Searches until the root is answered (the answer) or the watch stops it.
    fn run(&mut self, watch: &mut Watch<'_>) -> Option<bool> {
        loop {
            let frame = self.frames.last_mut().expect("the root is not answered");
            let good = frame.player == Player::Max;
            let open = self.children[frame.next..frame.end].iter();
            let Some(skipped) = open.clone().position(|child| child.verdict.is_none()) else {
                let answer = self.leave(!good);
                if answer.is_some() {
                    return answer;
                }
                continue;
            };
            let child = frame.next + skipped;
            frame.next = child + 1;
            // Only solved positions are remembered: a search that is stopped has solved one.
            if self.nodes >= watch.due() && self.check(watch).is_break() {
                return None;
            }
            if let Some(holds) = self.enter(child) {
                let answer = self.leave(holds);
                if answer.is_some() {
                    return answer;
                }
            }
        }
    }

    /// Goes to a child of the present node and expands it. The answer, if it has it at once.
    #[inline]
    fn enter(&mut self, child: usize) -> Option<bool> {
        let Child { key, mv, place, forced, player, .. } = self.children[child];
        let line = self.line.len();
        if Self::COPIED {
            *self.position = self.positions[place as usize].clone();
        } else {
            self.play(mv);
            for _ in 0..forced {
                self.moves.clear();
                self.setting.relevant_moves(self.position, &mut self.moves);
                self.play(self.moves[0]);
            }
        }
        self.moves.clear();
        self.setting.relevant_moves(self.position, &mut self.moves);
        self.descents += 1;
        let (first, nodes_before) = (self.children.len(), self.nodes);
        let first_place = self.positions.len();
        self.frames.push(Frame {
            player,
            key,
            first,
            end: first,
            next: first,
            line,
            first_place,
            nodes_before,
        });
        self.expand(player, first)
    }

    /// Adds the children of the present node, `self.moves`, as far as they are open.
    #[inline]
    fn expand(&mut self, player: Player, first: usize) -> Option<bool> {
        let good = player == Player::Max;
        for index in 0..self.moves.len() {
            let child = self.survey_child(self.moves[index]);
            self.nodes += 1;
            match child.verdict {
                Some(holds) if holds == good => return Some(good),
                Some(_) => {}
                None => {
                    self.setting.table.prefetch(child.key);
                    self.children.push(child);
                }
            }
        }
        // The memory had the time of the surveys to come.
        let mut open = first;
        for index in first..self.children.len() {
            let child = self.children[index];
            match self.setting.remembered(child.key) {
                Some(holds) if holds == good => return Some(good),
                Some(_) => self.nodes -= 1,
                None => {
                    // The most promising first; among equals the game's order.
                    let mut at = open;
                    while at > first && self.children[at - 1].promise < child.promise {
                        self.children[at] = self.children[at - 1];
                        at -= 1;
                    }
                    self.children[at] = child;
                    open += 1;
                }
            }
        }
        self.children.truncate(open);
        self.peak = self.peak.max(open);
        let frame = self.frames.last_mut().expect("a frame was pushed for it");
        frame.end = open;
        (open == first).then_some(!good)
    }

    /// Surveys the position after `mv`, and those that follow from it by force.
    #[inline]
    fn survey_child(&mut self, mv: Move) -> Child {
        let line = self.line.len();
        let mut copy = Self::COPIED.then(|| self.position.clone());
        let (mut next, mut forced) = (mv, 0);
        // How promising the move is shows right after it, not where it leads to by force.
        let mut promise = None;
        let (verdict, resistance) = loop {
            match &mut copy {
                Some(copy) => self.setting.game.play(copy, next),
                None => self.play(next),
            }
            let survey = self.setting.survey(copy.as_ref().unwrap_or(self.position));
            promise = promise.or(Some(survey.promise));
            let verdict = survey.bounds.verdict(self.setting.threshold);
            match survey.forced {
                Some(only) if verdict.is_none() => next = only,
                _ => break (verdict, survey.resistance.min(u32::from(u16::MAX)) as u16),
            }
            forced += 1;
        };
        let promise = promise.unwrap_or(0);
        let position = copy.as_ref().unwrap_or(self.position);
        let player = self.setting.game.to_move(position);
        let key = if verdict.is_some() { 0 } else { self.setting.key(position) };
        let mut place = 0;
        match copy {
            Some(copy) if verdict.is_none() => {
                place = self.positions.len() as u32;
                self.positions.push(copy);
            }
            Some(_) => {}
            None => self.take_back(line),
        }
        Child { key, promise, mv, place, forced, resistance, player, verdict }
    }

    #[inline]
    fn play(&mut self, mv: Move) {
        self.setting.game.play(self.position, mv);
        self.line.push(mv);
    }

    /// Takes back moves until the line of play has this length.
    #[inline]
    fn take_back(&mut self, length: usize) {
        while self.line.len() > length {
            let mv = self.line.pop().expect("the line is longer");
            self.setting.game.undo(self.position, mv);
        }
    }

    /// Leaves the present node with its answer, and all nodes above that it decides. The answer of
    /// the root, if it is among them.
    #[inline]
    fn leave(&mut self, holds: bool) -> Option<bool> {
        loop {
            let frame = self.frames.last().expect("there is a present node");
            let work = (self.nodes - frame.nodes_before + 1).min(u64::from(u32::MAX)) as u32;
            let pair = EffortPair::solved(holds);
            self.setting.table.put(frame.key, self.setting.threshold, pair, work);
            self.solved += 1;
            // The root's frame stays, for the report.
            let [.., parent, frame] = &self.frames[..] else { return Some(holds) };
            let &Frame { line, first, first_place, .. } = frame;
            let (parent_player, parent_child) = (parent.player, parent.next - 1);
            self.frames.pop();
            self.take_back(line);
            self.children.truncate(first);
            self.positions.truncate(first_place);
            self.children[parent_child].verdict = Some(holds);
            if holds != (parent_player == Player::Max) {
                return None;
            }
        }
    }

    /// Whether the search has to stop, by its limits or because the observer wants it.
    #[cold]
    fn check(&self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        watch.check(self.nodes, self.solved > 0, &|| self.findings(None))
    }
}
