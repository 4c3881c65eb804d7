//! `jlpns wait`: until entries of a queue have ended.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Serialize;

use super::super::output::{self, Output, grouped};
use super::super::{CommandError, End};
use super::entry::{Entry, State, end_of_waiting};
use super::follow::PatienceFlags;
use super::numbers::numbers;
use super::place::PlaceFlags;
use super::remote::RemoteQueue;
use super::runtime;

/// How many entries that have failed are told.
const TOLD: usize = 20;

/// What `jlpns wait` is given.
#[derive(Debug, clap::Args)]
pub struct WaitFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    url: Option<String>,

    /// The numbers of the entries, or ranges such as 5..20, with both ends [default: all that have not ended]
    #[arg(value_name = "NUMBER")]
    numbers: Vec<String>,

    #[command(flatten)]
    patience: PatienceFlags,

    #[command(flatten)]
    place: PlaceFlags,

    /// How it is printed what became of the entries
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// How many entries are in each state, as `--output json` prints it.
#[derive(Debug, PartialEq, Serialize)]
struct Tally {
    /// Those that were waited for.
    entries: u64,
    /// Those of them that are answered.
    solved: u64,
    /// Those that were stopped at a limit.
    stopped: u64,
    /// Those that were cancelled.
    cancelled: u64,
    /// Those that could not be solved.
    failed: u64,
    /// Those that have not ended.
    unended: u64,
}

impl Tally {
    /// Of so many entries, those that have ended being in these states.
    fn of(entries: usize, ended: &[State]) -> Tally {
        let count = |state| ended.iter().filter(|&&other| other == state).count() as u64;
        Tally {
            entries: entries as u64,
            solved: count(State::Solved),
            stopped: count(State::Stopped),
            cancelled: count(State::Cancelled),
            failed: count(State::Failed),
            unended: entries.saturating_sub(ended.len()) as u64,
        }
    }

    /// A line for people.
    fn text(&self) -> String {
        let counts = [
            (self.solved, "solved"),
            (self.stopped, "stopped at a limit"),
            (self.cancelled, "cancelled"),
            (self.failed, "failed"),
            (self.unended, "not ended"),
        ];
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
        let entries = grouped(self.entries);
        match self.entries {
            0 => "no entry to wait for".to_owned(),
            1 => format!("1 entry: {}", told.join(", ")),
            _ => format!("{entries} entries: {}", told.join(", ")),
        }
    }
}

/// Waits, and prints what became of the entries.
pub fn run(flags: &WaitFlags) -> Result<End, CommandError> {
    let (queue, words) = flags.place.find(flags.url.as_deref(), &flags.numbers)?;
    let mut numbers = numbers(&words)?;
    runtime()?.block_on(async {
        if numbers.is_empty() {
            queue
                .each(&BTreeSet::new(), &[State::Waiting, State::Open], |entry| {
                    numbers.insert(entry.number);
                    Ok(ControlFlow::Continue(()))
                })
                .await?;
        } else {
            // A number that is of no entry would never end.
            queue.each(&numbers, &[], |_| Ok(ControlFlow::Continue(()))).await?;
        }
        wait_for(&queue, numbers, &flags.patience, flags.output).await
    })
}

/// Waits for entries that there are, within a runtime, and prints what became of them.
pub async fn wait_for(
    queue: &RemoteQueue,
    numbers: BTreeSet<u64>,
    patience: &PatienceFlags,
    output: Output,
) -> Result<End, CommandError> {
    let (entries, mut ended, mut failed) = (numbers.len(), Vec::new(), Vec::new());
    let have_all_ended = patience
        .follow(queue, numbers, |entry| {
            let entry = Entry::of_wire(entry)?;
            ended.push(entry.state);
            if entry.state == State::Failed && failed.len() < TOLD {
                failed.push(entry.row());
            }
            Ok(())
        })
        .await?;
    let tally = Tally::of(entries, &ended);
    match output {
        Output::Json => output::print_json(&tally)?,
        Output::Text => {
            failed.push(tally.text());
            output::print_text(&failed.join("\n"))?;
        }
    }
    Ok(match end_of_waiting(ended) {
        End::Solved if !have_all_ended => End::Unsolved,
        end => end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_entries_is_a_line() {
        use State::{Cancelled, Failed, Solved, Stopped};
        let text = |entries, ended: &[State]| Tally::of(entries, ended).text();
        assert_eq!(text(0, &[]), "no entry to wait for");
        assert_eq!(text(1, &[Solved]), "1 entry: 1 solved");
        let line = "5 entries: 1 solved, 1 stopped at a limit, 1 cancelled, 1 failed, 1 not ended";
        assert_eq!(text(5, &[Failed, Solved, Cancelled, Stopped]), line);
    }
}
