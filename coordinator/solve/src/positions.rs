//! Many positions of one game instead of one root: each is answered by one search of its own, so that thousands of
//! small questions cost a lease each and share workers, tables, belief and journal.
//!
//! A position waits, is out with a worker, and is then answered or given up: given up is what one search within its
//! budget did not answer, or what kills its workers; it is for a solve of its own. What answers a position is what
//! machines have claimed of it, and whether that counts [`Belief`](crate::belief::Belief) says, as of any claim.

mod basis;
mod top_level;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jlpns_games::spec::{GameSpec, position_after};
use jlpns_games::{Bounds, Game, Goal, Move, Outcome, OutcomeScale, with_game};
use jlpns_search::answer::{Proved, known_best_move};
use jlpns_search::graph::NodeId;
use jlpns_search::{ChildFindings, EffortPair, Findings, Question};

use crate::belief::{Claims, Confirm, Identity, Open};
use crate::top_level::{NodeRef, TopLevel};

/// A position that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedPosition {
    /// Its number, by whoever asks.
    pub number: u64,
    /// The moves to it, from the start of the game; they are legal.
    pub moves: Vec<Move>,
    /// Positions of a higher one go out first.
    pub priority: u32,
    /// How many nodes its one search may create.
    pub budget: u64,
}

/// What is known of a position that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOfPosition {
    /// Its number.
    pub number: u64,
    /// Between what its value lies.
    pub bounds: Bounds,
    /// A move that keeps what is known, if one is known.
    pub best_move: Option<Move>,
    /// Nodes that its searches created.
    pub nodes: u64,
    /// How many of its searches were reported.
    pub jobs: u64,
    /// The time that they took.
    pub elapsed: Duration,
    /// How many claims the answer rests on.
    pub claims: u64,
    /// How many of them more than one machine stands behind.
    pub confirmed: u64,
}

/// What is told to whoever has opened the solve, beside what its workers are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tidings {
    /// It is answered, and the answer counts.
    Answered(FoundOfPosition),
    /// One search does not answer it.
    GivenUp(FoundOfPosition),
    /// The answer rested on the word of a machine that is not believed any more: it is searched again.
    Withdrawn {
        /// Its number.
        number: u64,
    },
    /// A machine has claimed what is not true.
    FoundOut {
        /// What it shows of itself.
        identity: Identity,
        /// The name of its worker.
        name: String,
    },
}

/// Where a position stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is to be searched.
    Waiting,
    /// A worker has it, or a record about it waits.
    Out,
    /// One search does not answer it.
    GivenUp,
    /// It is answered, by what machines claim.
    Answered,
    /// Nobody asks for it any more.
    Dropped,
}

/// A position, for all who ask for it: a mirror image is the same position.
#[derive(Debug)]
struct Position {
    key: u128,
    moves: Vec<Move>,
    /// The outcome, if the game is over there.
    outcome: Option<Outcome>,
    state: State,
    /// Who asks, with the moves by which they come to it.
    askers: BTreeMap<u64, Vec<Move>>,
    /// Whether they have been told what became of it.
    told: bool,
    priority: u32,
    budget: u64,
    /// What was found of the positions one move on, when it was last searched.
    children: Vec<ChildFindings>,
    nodes: u64,
    jobs: u64,
    elapsed: Duration,
}

/// Which one goes out first.
type Turn = (Reverse<u32>, u64, u32);

/// All positions that are asked for.
pub struct Positions {
    /// A tree that is never searched: what is asked of a tree as a whole it answers.
    root: Box<dyn TopLevel>,
    spec: GameSpec,
    scale: OutcomeScale,
    question: Question,
    /// Numbers of an open question, as many as it has thresholds.
    open: Vec<EffortPair>,
    goal: Option<Goal>,
    all: Vec<Position>,
    by_key: BTreeMap<u128, u32>,
    by_number: BTreeMap<u64, u32>,
    waiting: BTreeSet<Turn>,
    /// Those that are out and need not be.
    moot: Vec<NodeId>,
    /// Numbers whose answers were withdrawn.
    withdrawn: Vec<u64>,
}

impl Positions {
    /// None yet, of this game; the same is asked of each.
    pub fn new(
        spec: GameSpec,
        goal: Option<Goal>,
        question: Question,
        root: Box<dyn TopLevel>,
    ) -> Positions {
        let scale = with_game!(spec.game(), game => game.scale().clone());
        Positions {
            root,
            spec,
            scale,
            goal,
            question,
            open: vec![EffortPair::UNIT; question.thresholds().1],
            all: Vec::new(),
            by_key: BTreeMap::new(),
            by_number: BTreeMap::new(),
            waiting: BTreeSet::new(),
            moot: Vec::new(),
            withdrawn: Vec::new(),
        }
    }

    /// Takes a position in; gives its key. `None` if its moves are not legal, or its number is there already.
    pub fn ask(&mut self, asked: AskedPosition) -> Option<u128> {
        let AskedPosition { number, moves, priority, budget } = asked;
        if self.by_number.contains_key(&number) {
            return None;
        }
        let key = self.key_after(&moves)?;
        let index = match self.by_key.get(&key) {
            Some(&index) => index,
            None => {
                let index = self.all.len() as u32;
                self.all.push(Position {
                    key,
                    moves: moves.clone(),
                    outcome: with_game!(self.spec.game(), game => {
                        game.outcome(&position_after(game, &moves).ok()?)
                    }),
                    state: State::Waiting,
                    askers: BTreeMap::new(),
                    told: false,
                    priority,
                    budget,
                    children: Vec::new(),
                    nodes: 0,
                    jobs: 0,
                    elapsed: Duration::ZERO,
                });
                self.by_key.insert(key, index);
                index
            }
        };
        self.waiting.remove(&self.turn(index));
        let position = &mut self.all[index as usize];
        position.askers.insert(number, moves);
        position.priority = position.priority.max(priority);
        if position.state == State::Dropped
            || (position.state == State::GivenUp && budget > position.budget)
        {
            position.state = State::Waiting;
        }
        position.budget = position.budget.max(budget);
        // Whoever comes later is told as well; the others hear it twice, which changes nothing.
        position.told = false;
        self.by_number.insert(number, index);
        self.wait_if_waiting(index);
        Some(key)
    }

    /// The key of the position after these moves, if they are legal.
    fn key_after(&self, moves: &[Move]) -> Option<u128> {
        fn key<G: Game>(game: &G, moves: &[Move]) -> Option<u128> {
            Some(game.key(&position_after(game, moves).ok()?).into())
        }
        with_game!(self.spec.game(), game => key(game, moves))
    }

    /// A position is not asked for any more.
    pub fn drop_number(&mut self, number: u64) {
        let Some(index) = self.by_number.remove(&number) else { return };
        self.waiting.remove(&self.turn(index));
        let position = &mut self.all[index as usize];
        position.askers.remove(&number);
        if position.askers.is_empty() {
            if position.state == State::Out {
                self.moot.push(NodeId(index));
            }
            position.state = State::Dropped;
        }
        self.wait_if_waiting(index);
    }

    /// The keys of all that are asked for.
    pub fn keys(&self) -> Vec<u128> {
        self.by_key.keys().copied().collect()
    }

    /// What was told of a position does not count any more.
    fn withdraw(&mut self, index: u32) {
        let position = &mut self.all[index as usize];
        if std::mem::take(&mut position.told) {
            self.withdrawn.extend(position.askers.keys());
        }
    }

    /// The numbers whose answers were withdrawn since the last call.
    pub fn take_withdrawn(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.withdrawn)
    }

    /// All who ask are to be told anew what became of their positions.
    pub fn forget_told(&mut self) {
        self.all.iter_mut().for_each(|position| position.told = false);
    }

    /// Notes what a search of a position has found; nothing if it is not asked for.
    pub fn note_searched(&mut self, key: u128, found: &Findings, elapsed: Duration) {
        let Some(&index) = self.by_key.get(&key) else { return };
        let position = &mut self.all[index as usize];
        position.nodes = position.nodes.saturating_add(found.nodes);
        position.jobs += 1;
        position.elapsed += elapsed;
    }

    /// What is to be told of a position by what is claimed of it, and the claims that are to be confirmed before its
    /// answer counts.
    pub fn look_at(
        &mut self,
        key: u128,
        claims: &Claims,
        confirm: Confirm,
    ) -> (Vec<Tidings>, Vec<Open>) {
        let nothing = (Vec::new(), Vec::new());
        let Some(&index) = self.by_key.get(&key) else { return nothing };
        if self.all[index as usize].state == State::Dropped {
            return nothing;
        }
        let basis = self.basis_of(index, claims);
        let answered = basis.bounds_are_all;
        if answered {
            self.settle(index);
        }
        let position = &mut self.all[index as usize];
        if position.told {
            return nothing;
        }
        let counts = basis.open.is_empty() || !confirm.is_of_the_answer();
        if answered && !counts {
            return (Vec::new(), basis.open);
        }
        let is_given_up = position.state == State::GivenUp;
        if !answered && !is_given_up {
            return nothing;
        }
        position.told = true;
        let news = if answered { Tidings::Answered } else { Tidings::GivenUp };
        let position = &self.all[index as usize];
        let told = position.askers.iter().map(|(&number, moves)| {
            news(FoundOfPosition {
                number,
                bounds: basis.bounds,
                best_move: self.best_move_after(position, moves, basis.bounds),
                nodes: position.nodes,
                jobs: position.jobs,
                elapsed: position.elapsed,
                claims: basis.claims,
                confirmed: basis.claims - basis.open.len() as u64,
            })
        });
        let told = told.collect();
        // What is told needs no more room than its answer.
        self.all[index as usize].children = Vec::new();
        (told, Vec::new())
    }

    /// A move that keeps what is known, for one who comes to a position by these moves.
    fn best_move_after(&self, position: &Position, moves: &[Move], bounds: Bounds) -> Option<Move> {
        // What a search has found of each move is no help for the mirror image.
        let children = if moves == position.moves { &position.children[..] } else { &[] };
        with_game!(self.spec.game(), game => {
            let mut place = position_after(game, moves).ok()?;
            let proved = Proved { bounds, goal: self.goal };
            known_best_move(game, &mut place, proved, self.question, children)
        })
    }

    /// A position is answered: it need not be out any more.
    fn settle(&mut self, index: u32) {
        self.waiting.remove(&self.turn(index));
        let position = &mut self.all[index as usize];
        if position.state == State::Out {
            self.moot.push(NodeId(index));
        }
        position.state = State::Answered;
    }

    fn turn(&self, index: u32) -> Turn {
        let position = &self.all[index as usize];
        let first = position.askers.keys().next().copied().unwrap_or(u64::MAX);
        (Reverse(position.priority), first, index)
    }

    fn wait_if_waiting(&mut self, index: u32) {
        if self.all[index as usize].state == State::Waiting {
            self.waiting.insert(self.turn(index));
        }
    }

    fn at(&self, node: NodeRef) -> Option<&Position> {
        self.all.get(node.id.0 as usize).filter(|position| position.key == node.key)
    }

    /// Changes where a position stands.
    fn set(&mut self, node: NodeRef, state: State) {
        if self.at(node).is_some() {
            self.waiting.remove(&self.turn(node.id.0));
            self.all[node.id.0 as usize].state = state;
            self.wait_if_waiting(node.id.0);
        }
    }
}
