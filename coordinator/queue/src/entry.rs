//! Entries: what is submitted, what is known of it, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, format_moves};
use jlpns_games::{Bounds, Game, Goal, Move, with_game};

use crate::Sweep;

/// The weight of an entry that does not say.
pub const PRIORITY: u32 = 10;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The game.
    pub spec: Arc<GameSpec>,
    /// The moves to the position, which are legal.
    pub moves: Vec<Move>,
    /// The same moves by their names: finding those takes longer than many a search.
    pub moves_text: String,
    /// What it is asked together with.
    pub sweep: Arc<Sweep>,
    /// The goal, if it is not the value.
    pub goal: Option<Goal>,
    /// Its weight, at least 1.
    pub priority: u32,
    /// How many nodes its searches may create.
    pub most_nodes: Option<u64>,
    /// How long it may be worked on.
    pub most_time: Option<Duration>,
    /// Whether a certificate is wanted.
    pub certificate: bool,
    /// What the submitter calls it.
    pub label: String,
}

impl Asked {
    /// The value of the position after these moves, which are legal, or whether it fulfils a goal; without limits.
    pub fn new(spec: Arc<GameSpec>, moves: Vec<Move>, goal: Option<Goal>) -> Asked {
        let (moves_text, goal_text) = with_game!(spec.game(), game => (
            format_moves(game, &moves),
            goal.map_or(String::new(), |goal| goal.display(game.scale()).to_string()),
        ));
        let sweep = Arc::new(Sweep { spec: spec.as_str().to_owned(), goal: goal_text });
        Asked {
            spec,
            moves,
            moves_text,
            sweep,
            goal,
            priority: PRIORITY,
            most_nodes: None,
            most_time: None,
            certificate: false,
            label: String::new(),
        }
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Asked) -> bool {
        let words = |asked: &Asked| {
            let Asked { moves, goal, priority, most_nodes, most_time, certificate, label, .. } =
                asked.clone();
            (moves, goal, priority, most_nodes, most_time, certificate, label)
        };
        self.spec.as_str() == other.spec.as_str() && words(self) == words(other)
    }
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// One search is to answer it.
    Waiting,
    /// It gets a solve of its own.
    Open,
    /// It is answered.
    Solved,
    /// It was stopped at its limit.
    Stopped,
    /// It was cancelled.
    Cancelled,
    /// It could not be solved.
    Failed,
}

impl State {
    /// All of them.
    pub const ALL: [State; 6] = [
        State::Waiting,
        State::Open,
        State::Solved,
        State::Stopped,
        State::Cancelled,
        State::Failed,
    ];

    /// Those in which an entry stays.
    pub const ENDED: [State; 4] = [State::Solved, State::Stopped, State::Cancelled, State::Failed];

    /// Its name, as people read and type it.
    pub const fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Open => "open",
            State::Solved => "solved",
            State::Stopped => "stopped",
            State::Cancelled => "cancelled",
            State::Failed => "failed",
        }
    }

    /// Whether an entry stays in it.
    pub fn has_ended(self) -> bool {
        State::ENDED.contains(&self)
    }
}

/// How an entry ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndKind {
    /// It is answered.
    Solved,
    /// It was stopped at its limit.
    Stopped,
    /// It was cancelled.
    Cancelled,
    /// It could not be solved.
    Failed,
}

impl EndKind {
    /// Where an entry stands that has ended so.
    pub fn state(self) -> State {
        match self {
            EndKind::Solved => State::Solved,
            EndKind::Stopped => State::Stopped,
            EndKind::Cancelled => State::Cancelled,
            EndKind::Failed => State::Failed,
        }
    }
}

/// The end of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Which one.
    pub kind: EndKind,
    /// Why, if it was stopped or failed.
    pub reason: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

/// What is known of an entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Between what the value lies, if anything was looked at.
    pub bounds: Option<Bounds>,
    /// A move that keeps it, if one is known.
    pub best_move: Option<Move>,
    /// Nodes that its searches created.
    pub nodes: u64,
    /// Jobs reported.
    pub jobs: u64,
    /// Time in its searches, over all slots.
    pub search_time: Duration,
    /// How many claims the answer rests on, and how many of them more than one machine stands behind.
    pub claims: Option<(u64, u64)>,
    /// The file of its certificate, and that file's SHA-256 in hexadecimal digits.
    pub certificate: Option<(String, String)>,
}

/// An entry of the queue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is asked for.
    pub asked: Asked,
    /// Where it stands.
    pub state: State,
    /// When it was submitted, in milliseconds since 1970.
    pub submitted: u64,
    /// When it was begun.
    pub began: Option<u64>,
    /// What is known of it.
    pub found: Found,
    /// The nodes and the time of the one search that did not answer it, before it got a solve of its own.
    pub swept: (u64, Duration),
    /// How it has ended.
    pub end: Option<End>,
}

impl Entry {
    /// One that was submitted then.
    pub(crate) fn new(asked: Asked, submitted: u64) -> Entry {
        Entry {
            asked,
            state: State::Waiting,
            submitted,
            began: None,
            found: Found::default(),
            swept: (0, Duration::ZERO),
            end: None,
        }
    }

    /// What is known of it when its own solve has taken so much, with what the search before took.
    pub fn with_work(&self, nodes: u64, jobs: u64, search_time: Duration) -> Found {
        let (swept, swept_time) = self.swept;
        Found {
            nodes: nodes.saturating_add(swept),
            jobs: jobs + u64::from(swept > 0),
            search_time: search_time.saturating_add(swept_time),
            ..self.found.clone()
        }
    }

    /// The same as if it had not ended.
    pub fn before_its_end(&self) -> Entry {
        Entry { state: State::Open, end: None, ..self.clone() }
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }
}

/// Why an entry was stopped that has used up its nodes.
pub fn limit_of_nodes(most: u64) -> String {
    format!("it has used up its {most} nodes (--most-nodes)")
}

/// Why an entry was stopped that has used up its time.
pub fn limit_of_time(most: Duration) -> String {
    format!("it has used up its {} s (--most-time)", most.as_secs_f64())
}
