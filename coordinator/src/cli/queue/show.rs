//! `jlpns queue`: the state of a queue, and its entries.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use jlpns_proto::v1::{QueueEntry, QueueStatus};
use jlpns_solve::WorkerStatus;
use serde::Serialize;

use super::super::output::{self, Output, grouped};
use super::super::{CommandError, End, values};
use super::entry::{Entry, State, known_state};
use super::numbers::numbers;
use super::place::PlaceFlags;
use super::remote::RemoteQueue;
use super::runtime;
use crate::status::worker_from_wire;

/// How many of the entries that wait are shown, unless more are asked for.
const WAITING: usize = 20;

/// What `jlpns queue` is given.
#[derive(Debug, clap::Args)]
pub struct QueueFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    url: Option<String>,

    /// The numbers of the entries, or ranges such as 5..20, with both ends [default: those that are open and the
    /// first 20 that wait]
    #[arg(value_name = "NUMBER")]
    numbers: Vec<String>,

    /// Show all entries
    #[arg(long, conflicts_with = "state", env = "JLPNS_QUEUE_ALL")]
    all: bool,

    /// Show the entries in these states
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "JLPNS_QUEUE_STATE")]
    #[arg(value_parser = values::entry_state())]
    state: Vec<State>,

    #[command(flatten)]
    place: PlaceFlags,

    /// How the state is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// The state and the entries, as `--output json` prints them.
#[derive(Debug, Serialize)]
struct Shown {
    status: Status,
    entries: Vec<Entry>,
    /// The slots that work on each of the entries, for the table.
    #[serde(skip)]
    slots: Vec<u32>,
}

/// The state of the queue as a whole.
#[derive(Debug, Default, Serialize)]
struct Status {
    /// How many entries are in each state.
    counts: Counts,
    /// The slots that have a job.
    slots_busy: u64,
    /// All slots that are connected.
    slots: u64,
    /// Seconds since the coordinator's process began.
    seconds: f64,
    /// Seconds spent in searches of its jobs, over all slots.
    search_seconds: f64,
    /// Seconds that slots were connected to it while there was work, over all slots.
    slot_seconds: f64,
    /// Why no leases are given at present.
    halted: Option<String>,
    /// The machines that are put out, by the names of their workers.
    quarantined: Vec<String>,
    /// The workers that are connected.
    workers: Vec<WorkerStatus>,
}

/// How many entries are in each state.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Counts {
    waiting: u64,
    open: u64,
    solved: u64,
    stopped: u64,
    cancelled: u64,
    failed: u64,
}

impl Counts {
    fn of(&mut self, state: State) -> &mut u64 {
        match state {
            State::Waiting => &mut self.waiting,
            State::Open => &mut self.open,
            State::Solved => &mut self.solved,
            State::Stopped => &mut self.stopped,
            State::Cancelled => &mut self.cancelled,
            State::Failed => &mut self.failed,
        }
    }
}

impl Status {
    fn of_wire(message: QueueStatus) -> Result<Status, CommandError> {
        let mut counts = Counts::default();
        for count in &message.counts {
            *counts.of(known_state(count.state)?) += count.entries;
        }
        let workers: Vec<WorkerStatus> =
            message.workers.into_iter().map(worker_from_wire).collect();
        Ok(Status {
            counts,
            slots_busy: workers.iter().map(|worker| u64::from(worker.running)).sum(),
            slots: workers.iter().map(|worker| u64::from(worker.slots)).sum(),
            seconds: message.seconds,
            search_seconds: message.search_seconds,
            slot_seconds: message.slot_seconds,
            halted: message.halted,
            quarantined: message.quarantined,
            workers,
        })
    }

    /// Lines for people.
    fn text(&self) -> String {
        let counts = &self.counts;
        let mut lines = vec![format!(
            "{} waiting, {} open, {} solved, {} stopped, {} cancelled, {} failed",
            grouped(counts.waiting),
            grouped(counts.open),
            grouped(counts.solved),
            grouped(counts.stopped),
            grouped(counts.cancelled),
            grouped(counts.failed),
        )];
        lines.push(match self.workers.len() {
            0 => "no worker is connected".to_owned(),
            many => format!(
                "{} of {} slots busy, of {many} worker{}",
                grouped(self.slots_busy),
                grouped(self.slots),
                if many == 1 { "" } else { "s" },
            ),
        });
        if self.slot_seconds > 0.0 {
            let share = self.search_seconds / self.slot_seconds * 100.0;
            lines.push(format!(
                "{:.0} s, slots searched {share:.1} % of the time in which there was work",
                self.seconds
            ));
        }
        lines.extend(self.halted.iter().map(|reason| format!("no job is given out: {reason}")));
        let put_out = self.quarantined.iter();
        lines.extend(put_out.map(|name| format!("the machine of worker {name} is quarantined")));
        lines.join("\n")
    }
}

/// Asks for the state and for the entries, and prints them.
pub fn run(flags: &QueueFlags) -> Result<End, CommandError> {
    let (queue, words) = flags.place.find(flags.url.as_deref(), &flags.numbers)?;
    let numbers = numbers(&words)?;
    let shown = runtime()?.block_on(ask(flags, &queue, &numbers))?;
    match flags.output {
        Output::Json => output::print_json(&shown)?,
        Output::Text => output::print_text(&text(&shown))?,
    }
    Ok(End::Solved)
}

async fn ask(
    flags: &QueueFlags,
    queue: &RemoteQueue,
    numbers: &BTreeSet<u64>,
) -> Result<Shown, CommandError> {
    let status = Status::of_wire(queue.status().await?)?;
    let mut shown = Shown { status, entries: Vec::new(), slots: Vec::new() };
    if !numbers.is_empty() || flags.all || !flags.state.is_empty() {
        queue.each(numbers, &flags.state, |entry| shown.take(entry)).await?;
        return Ok(shown);
    }
    queue.each(numbers, &[State::Open], |entry| shown.take(entry)).await?;
    let mut waiting = 0;
    if shown.status.counts.waiting == 0 {
        return Ok(shown);
    }
    let first = |entry| {
        waiting += 1;
        let _: ControlFlow<()> = shown.take(entry)?;
        let is_last = waiting == WAITING;
        Ok::<_, CommandError>(if is_last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    };
    queue.each(numbers, &[State::Waiting], first).await?;
    Ok(shown)
}

impl Shown {
    fn take(&mut self, entry: QueueEntry) -> Result<ControlFlow<()>, CommandError> {
        self.slots.push(entry.slots);
        self.entries.push(Entry::of_wire(entry)?);
        Ok(ControlFlow::Continue(()))
    }
}

/// The state and a table of the entries.
fn text(shown: &Shown) -> String {
    let status = shown.status.text();
    if shown.entries.is_empty() {
        return status;
    }
    let headings =
        ["number", "state", "weight", "slots", "jobs", "nodes", "known", "position", "label"];
    let row = |(entry, slots): (&Entry, &u32)| {
        [
            entry.number.to_string(),
            entry.state.name().to_owned(),
            entry.priority.to_string(),
            slots.to_string(),
            grouped(entry.jobs),
            grouped(entry.nodes),
            entry.known(),
            entry.position(),
            entry.label.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let rows: Vec<[String; 9]> = shown.entries.iter().zip(&shown.slots).map(row).collect();
    format!("{status}\n\n{}", output::columns(headings, &rows))
}

#[cfg(test)]
mod tests {
    use jlpns_proto::v1::{self, EntryCount, NewEntry};

    use super::*;
    use crate::queue::words::state_to_wire;

    fn shown() -> Shown {
        let count =
            |state: State, entries| EntryCount { state: state_to_wire(state).into(), entries };
        let worker = v1::WorkerStatus { slots: 4, running: 3, ..Default::default() };
        let status = QueueStatus {
            counts: vec![count(State::Waiting, 1_000), count(State::Open, 1)],
            workers: vec![worker],
            seconds: 10.0,
            search_seconds: 9.0,
            slot_seconds: 10.0,
            ..Default::default()
        };
        let status = Status::of_wire(status).expect("all states are known");
        let mut shown = Shown { status, entries: Vec::new(), slots: Vec::new() };
        let entry = NewEntry {
            spec: "connect4:7x6".to_owned(),
            moves: "444".to_owned(),
            priority: 20,
            ..Default::default()
        };
        let open = QueueEntry {
            number: 7,
            entry: Some(entry),
            state: state_to_wire(State::Open).into(),
            slots: 3,
            ..Default::default()
        };
        let _: ControlFlow<()> = shown.take(open).expect("its state is known");
        shown
    }

    #[test]
    fn people_read_the_counts_and_a_table() {
        let text = text(&shown());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "1 000 waiting, 1 open, 0 solved, 0 stopped, 0 cancelled, 0 failed");
        assert_eq!(lines[1], "3 of 4 slots busy, of 1 worker");
        assert!(lines[2].contains("90.0 %"), "{text}");
        let words: Vec<&str> = lines[5].split_whitespace().collect();
        assert_eq!(words, ["7", "open", "20", "3", "0", "0", "-", "connect4:7x6", "444", "-"]);
    }

    #[test]
    fn json_is_one_object_with_the_status_and_the_entries() {
        let json = serde_json::to_value(shown()).expect("it can be written");
        assert_eq!(json["status"]["counts"]["waiting"], 1000);
        assert_eq!(json["status"]["slots_busy"], 3);
        assert_eq!(json["entries"][0]["number"], 7);
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(2));
    }
}
