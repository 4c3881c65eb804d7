//! An entry of a queue as it is printed.

use std::time::{Duration, UNIX_EPOCH};

use anyhow::anyhow;
use jlpns_proto::v1;
pub use jlpns_queue::entry::State;
use serde::{Serialize, Serializer};

use super::super::output::grouped;
use super::super::{CommandError, End};
use crate::queue::words::state_of_wire;

/// The last millisecond that can be written: that of the year 9999.
const LATEST_MS: u64 = 253_402_300_799_999;

/// What a message says of where an entry stands; an error if this build does not know it.
pub fn known_state(number: i32) -> Result<State, CommandError> {
    state_of_wire(number).ok_or_else(|| {
        CommandError::Failed(anyhow!(
            "the coordinator tells of an entry in state {number}, which this build does not know; use the \
             coordinator's build"
        ))
    })
}

fn by_name<S: Serializer>(state: &State, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(state.name())
}

/// How a command ends that waits for entries, of the states in which they are.
pub fn end_of_waiting(states: impl IntoIterator<Item = State>) -> End {
    states.into_iter().fold(End::Solved, |end, state| match (end, state) {
        (End::Failed, _) | (_, State::Failed) => End::Failed,
        (end, State::Solved) => end,
        _ => End::Unsolved,
    })
}

/// How a command ends that prints what became of entries.
pub fn end_of_results(states: impl IntoIterator<Item = State>) -> End {
    let has_failed = states.into_iter().any(|state| state == State::Failed);
    if has_failed { End::Failed } else { End::Solved }
}

/// An entry, as `--output json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its number.
    pub number: u64,
    /// The game's spec.
    pub spec: String,
    /// The moves after it, by their names.
    pub moves: String,
    /// The goal, if there is one.
    pub goal: Option<String>,
    /// Its weight.
    pub priority: u32,
    /// What the submitter calls it, if it says.
    pub label: Option<String>,
    /// Where it stands.
    #[serde(serialize_with = "by_name")]
    pub state: State,
    /// Why it was stopped or failed.
    pub reason: Option<String>,
    /// Without a goal: `true` when the value is known. With one: `true` proved, `false` disproved.
    pub proved: Option<bool>,
    /// The value from Max's view, once it is known.
    pub value: Option<String>,
    /// The move on which the game ends, if the outcomes tell these apart.
    pub last_move: Option<u32>,
    /// The worst value for Max that is still possible.
    pub lower: String,
    /// The best value for Max that is still possible.
    pub upper: String,
    /// A move that keeps the value or fulfils the goal, if one is known.
    pub best_move: Option<String>,
    /// Nodes that its searches created.
    pub nodes: u64,
    /// Jobs reported.
    pub jobs: u64,
    /// Seconds spent in its searches, over all slots.
    pub search_seconds: f64,
    /// How many claims the answer rests on.
    pub claims: Option<u64>,
    /// How many of them more than one machine stands behind.
    pub claims_confirmed: Option<u64>,
    /// The file of its certificate, under the coordinator's directory.
    pub certificate: Option<String>,
    /// The SHA-256 of that file.
    pub sha256: Option<String>,
    /// When it was submitted.
    pub submitted: Option<String>,
    /// When work on it began.
    pub began: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// Seconds from then to its end.
    pub seconds: Option<f64>,
}

/// The text, if there is one.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A time in RFC 3339, in UTC; none for 0, and for what no calendar has.
fn moment(ms: u64) -> Option<String> {
    let at = UNIX_EPOCH.checked_add(Duration::from_millis(ms))?;
    (1..=LATEST_MS).contains(&ms).then(|| humantime::format_rfc3339_millis(at).to_string())
}

impl Entry {
    /// The entry of a message; an error if its state is not known.
    pub fn of_wire(message: v1::QueueEntry) -> Result<Entry, CommandError> {
        let state = known_state(message.state)?;
        let entry = message.entry.unwrap_or_default();
        let is_timed = message.began_ms > 0 && message.ended_ms > 0;
        let ms = is_timed.then(|| message.ended_ms.saturating_sub(message.began_ms));
        Ok(Entry {
            number: message.number,
            spec: entry.spec,
            moves: entry.moves,
            proved: match entry.goal {
                Some(_) => message.proved,
                None => message.value.as_ref().map(|_| true),
            },
            goal: entry.goal,
            // What the contract lets 0 stand for.
            priority: if entry.priority == 0 { 10 } else { entry.priority },
            label: some(entry.label),
            state,
            reason: some(message.reason),
            value: message.value,
            last_move: message.last_move,
            lower: message.lower,
            upper: message.upper,
            best_move: message.best_move,
            nodes: message.nodes,
            jobs: message.jobs,
            search_seconds: message.search_seconds,
            claims: message.claims,
            claims_confirmed: message.claims_confirmed,
            certificate: some(message.certificate),
            sha256: some(message.certificate_sha256),
            submitted: moment(message.submitted_ms),
            began: moment(message.began_ms),
            ended: moment(message.ended_ms),
            seconds: ms.map(|ms| ms as f64 / 1000.0),
        })
    }

    /// The spec and the moves.
    pub fn position(&self) -> String {
        position(&self.spec, &self.moves)
    }

    /// What is known of its value or goal, in a few words.
    pub fn known(&self) -> String {
        match (&self.goal, self.proved, &self.value) {
            (_, _, Some(value)) => match self.last_move {
                Some(last_move) => format!("{value} {last_move}"),
                None => value.clone(),
            },
            (Some(goal), Some(proved), None) => {
                format!("{goal} {}", if proved { "proved" } else { "disproved" })
            }
            _ if self.lower.is_empty() => "-".to_owned(),
            _ => format!("{} to {}", self.lower, self.upper),
        }
    }

    /// A line for people: what became of it.
    pub fn row(&self) -> String {
        let best = self.best_move.as_deref().unwrap_or("-");
        let mut row = format!(
            "{}  {}  {}  {}  {best}  {} nodes",
            self.number,
            self.position(),
            self.state.name(),
            self.known(),
            grouped(self.nodes),
        );
        if let Some(seconds) = self.seconds {
            row += &format!("  {seconds:.1} s");
        }
        if let Some(label) = &self.label {
            row += &format!("  {label}");
        }
        if let Some(reason) = &self.reason {
            row += &format!("  ({reason})");
        }
        row
    }
}

/// A spec and moves as people read them.
pub fn position(spec: &str, moves: &str) -> String {
    if moves.is_empty() { spec.to_owned() } else { format!("{spec} {moves}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::queue::words::state_to_wire;

    fn solved() -> v1::QueueEntry {
        v1::QueueEntry {
            number: 12,
            entry: Some(v1::NewEntry {
                spec: "connect4:7x6".to_owned(),
                moves: "444".to_owned(),
                goal: None,
                priority: 20,
                label: "one".to_owned(),
                ..Default::default()
            }),
            state: v1::EntryState::Solved.into(),
            value: Some("draw".to_owned()),
            lower: "draw".to_owned(),
            upper: "draw".to_owned(),
            best_move: Some("4".to_owned()),
            nodes: 12_345,
            jobs: 3,
            search_seconds: 1.5,
            submitted_ms: 1_000,
            began_ms: 2_000,
            ended_ms: 4_500,
            ..Default::default()
        }
    }

    fn read(message: v1::QueueEntry) -> Entry {
        Entry::of_wire(message).expect("its state is known")
    }

    #[test]
    fn the_json_of_an_entry_has_all_keys() {
        let entry = serde_json::to_value(read(solved())).expect("it can be written");
        let expected = json!({
            "number": 12, "spec": "connect4:7x6", "moves": "444", "goal": null, "priority": 20,
            "label": "one", "state": "solved", "reason": null, "proved": true, "value": "draw",
            "last_move": null, "lower": "draw", "upper": "draw", "best_move": "4", "nodes": 12345,
            "jobs": 3, "search_seconds": 1.5, "claims": null, "claims_confirmed": null,
            "certificate": null, "sha256": null, "submitted": "1970-01-01T00:00:01.000Z",
            "began": "1970-01-01T00:00:02.000Z", "ended": "1970-01-01T00:00:04.500Z", "seconds": 2.5
        });
        assert_eq!(entry, expected);
    }

    #[test]
    fn what_has_not_ended_has_no_end_and_no_seconds() {
        let open = v1::QueueEntry {
            state: v1::EntryState::Open.into(),
            value: None,
            ended_ms: 0,
            ..solved()
        };
        let open = read(open);
        assert_eq!((open.ended.as_deref(), open.seconds, open.proved), (None, None, None));
        assert!(open.began.is_some());
        let far = read(v1::QueueEntry { ended_ms: u64::MAX, ..solved() });
        assert_eq!(far.ended, None);
    }

    #[test]
    fn rows_tell_what_is_known() {
        assert_eq!(
            read(solved()).row(),
            "12  connect4:7x6 444  solved  draw  4  12 345 nodes  2.5 s  one"
        );
        let with_goal = v1::NewEntry {
            spec: "g".to_owned(),
            goal: Some(">=win".to_owned()),
            ..Default::default()
        };
        let failed = v1::QueueEntry {
            number: 1,
            entry: Some(with_goal),
            state: v1::EntryState::Failed.into(),
            reason: "no worker plays it".to_owned(),
            ..Default::default()
        };
        let row = "1  g  failed  -  -  0 nodes  (no worker plays it)";
        assert_eq!(read(failed.clone()).row(), row);
        let disproved = v1::QueueEntry {
            proved: Some(false),
            lower: "loss".to_owned(),
            upper: "draw".to_owned(),
            ..failed
        };
        assert_eq!(read(disproved).known(), ">=win disproved");
    }

    #[test]
    fn a_state_that_is_not_known_is_told() {
        for state in State::ALL {
            assert_eq!(known_state(state_to_wire(state).into()).expect("known"), state);
        }
        for unknown in [0, 99] {
            known_state(unknown).expect_err("it is not known");
        }
    }

    #[test]
    fn exit_codes_follow_from_states() {
        use State::{Cancelled, Failed, Open, Solved, Stopped};
        let ends: [(&[State], End, End); 7] = [
            (&[], End::Solved, End::Solved),
            (&[Solved, Solved], End::Solved, End::Solved),
            (&[Solved, Stopped], End::Unsolved, End::Solved),
            (&[Cancelled, Solved], End::Unsolved, End::Solved),
            (&[Open], End::Unsolved, End::Solved),
            (&[Failed, Solved], End::Failed, End::Failed),
            (&[Stopped, Failed, Cancelled], End::Failed, End::Failed),
        ];
        for (states, waiting, results) in ends {
            assert_eq!(end_of_waiting(states.iter().copied()), waiting, "{states:?}");
            assert_eq!(end_of_results(states.iter().copied()), results, "{states:?}");
        }
    }
}
