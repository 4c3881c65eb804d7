//! Entries as messages: what is submitted is checked here, and what is told of an entry is put into the words of its
//! game.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jlpns_certificate::is_certifiable;
use jlpns_games::spec::{GameSpec, Games, parse_moves, position_after};
use jlpns_games::{Bounds, Game, with_game};
use jlpns_proto::convert::label;
use jlpns_proto::{MAX_MOVES, MAX_PRIORITY, v1};
use jlpns_queue::entry::{Asked, Entry, PRIORITY, State};

/// What is wrong with an entry that is submitted, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadEntry(pub String);

/// Reads entries. A game is made once for all of its entries.
#[derive(Debug)]
pub struct EntryReader<'a> {
    games: &'a Games,
    specs: BTreeMap<String, Arc<GameSpec>>,
}

impl<'a> EntryReader<'a> {
    /// For entries of these games.
    pub fn new(games: &'a Games) -> EntryReader<'a> {
        EntryReader { games, specs: BTreeMap::new() }
    }

    /// What a message asks for.
    pub fn read(&mut self, entry: v1::NewEntry) -> Result<Asked, BadEntry> {
        let bad = |error: &dyn std::fmt::Display| BadEntry(error.to_string());
        let spec = match self.specs.get(&entry.spec) {
            Some(spec) => spec.clone(),
            None => {
                let spec = Arc::new(self.games.spec(&entry.spec).map_err(|error| bad(&error))?);
                self.specs.insert(entry.spec.clone(), spec.clone());
                spec
            }
        };
        let (moves, goal) = with_game!(spec.game(), game => {
            let moves = parse_moves(game, &entry.moves).map_err(|error| bad(&error))?;
            position_after(game, &moves).map_err(|error| bad(&error))?;
            let goal = entry.goal.as_deref().map(|goal| game.scale().parse_goal(goal)).transpose();
            (moves, goal.map_err(|error| bad(&error))?)
        });
        if moves.len() > MAX_MOVES {
            return Err(BadEntry(format!(
                "it has {} moves; the most are {MAX_MOVES}",
                moves.len()
            )));
        }
        if entry.priority > MAX_PRIORITY {
            let given = entry.priority;
            return Err(BadEntry(format!("its priority is {given}; give 1 to {MAX_PRIORITY}")));
        }
        label("the label of an entry", &entry.label).map_err(|error| bad(&error))?;
        if entry.certificate && !is_certifiable(&spec) {
            return Err(BadEntry(format!("there are no certificates for {spec} yet")));
        }
        Ok(Asked {
            priority: if entry.priority == 0 { PRIORITY } else { entry.priority },
            most_nodes: (entry.most_nodes > 0).then_some(entry.most_nodes),
            most_time: (entry.most_time_ms > 0).then(|| Duration::from_millis(entry.most_time_ms)),
            certificate: entry.certificate,
            label: entry.label,
            ..Asked::new(spec, moves, goal)
        })
    }
}

/// What is asked for, as it is submitted.
pub fn asked_to_wire(asked: &Asked) -> v1::NewEntry {
    v1::NewEntry {
        spec: asked.spec.as_str().to_owned(),
        moves: asked.moves_text.clone(),
        goal: asked.goal.map(|_| asked.sweep.goal.clone()),
        priority: asked.priority,
        most_nodes: asked.most_nodes.unwrap_or(0),
        most_time_ms: asked
            .most_time
            .map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)),
        certificate: asked.certificate,
        label: asked.label.clone(),
    }
}

/// An entry as it is told to clients; `slots` work on it.
pub fn entry_to_wire(number: u64, entry: &Entry, slots: u32) -> v1::QueueEntry {
    with_game!(entry.asked.spec.game(), game => told(game, number, entry, slots))
}

fn told<G: Game>(game: &G, number: u64, entry: &Entry, slots: u32) -> v1::QueueEntry {
    let Entry { asked, found, .. } = entry;
    let scale = game.scale();
    let known = found.bounds.and_then(|bounds| bounds.intersection(scale.bounds()));
    let bounds = known.unwrap_or(scale.bounds());
    let Bounds { lower, upper } = bounds;
    let name = |outcome| scale.name(outcome).to_owned();
    let best_move = found.best_move.map(|best| {
        // The moves are legal, as they were when the entry was taken in.
        let place = position_after(game, &asked.moves).unwrap_or_else(|_| game.start());
        game.move_name(&place, best)
    });
    let value = bounds.value().filter(|_| known.is_some());
    let goal_answer = asked.goal.and_then(|goal| {
        let threshold = goal.threshold();
        bounds.verdict(threshold).map(|holds| goal.proved_when(holds))
    });
    v1::QueueEntry {
        number,
        entry: Some(asked_to_wire(asked)),
        state: state_to_wire(entry.state).into(),
        reason: entry.end.as_ref().map(|end| end.reason.clone()).unwrap_or_default(),
        proved: goal_answer.filter(|_| known.is_some()),
        value: value.map(|value| scale.value(value).to_owned()),
        last_move: value.and_then(|value| scale.last_move(value)),
        lower: name(lower),
        upper: name(upper),
        best_move,
        nodes: found.nodes,
        jobs: found.jobs,
        search_seconds: found.search_time.as_secs_f64(),
        claims: found.claims.map(|(claims, _)| claims),
        claims_confirmed: found.claims.map(|(_, confirmed)| confirmed),
        certificate: found.certificate.as_ref().map(|(file, _)| file.clone()).unwrap_or_default(),
        certificate_sha256: found
            .certificate
            .as_ref()
            .map(|(_, sha)| sha.clone())
            .unwrap_or_default(),
        submitted_ms: entry.submitted,
        began_ms: entry.began.unwrap_or(0),
        ended_ms: entry.end.as_ref().map_or(0, |end| end.at),
        slots,
    }
}

/// Where an entry stands, as it is told.
pub fn state_to_wire(state: State) -> v1::EntryState {
    match state {
        State::Waiting => v1::EntryState::Waiting,
        State::Open => v1::EntryState::Open,
        State::Solved => v1::EntryState::Solved,
        State::Stopped => v1::EntryState::Stopped,
        State::Cancelled => v1::EntryState::Cancelled,
        State::Failed => v1::EntryState::Failed,
    }
}

/// Where an entry stands by a message; nothing if this build does not know it.
pub fn state_of_wire(number: i32) -> Option<State> {
    State::ALL.into_iter().find(|&state| i32::from(state_to_wire(state)) == number)
}
