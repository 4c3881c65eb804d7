//! `jlpns results`: what became of entries of a queue.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use jlpns_proto::v1::QueueEntry;
use tracing::warn;

use super::super::output::{self, Output, grouped};
use super::super::{CommandError, End};
use super::entry::{Entry, State, end_of_results, known_state};
use super::follow::PatienceFlags;
use super::numbers::numbers;
use super::place::PlaceFlags;
use super::remote::RemoteQueue;
use super::runtime;

/// What `jlpns results` is given.
#[derive(Debug, clap::Args)]
pub struct ResultsFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    url: Option<String>,

    /// The numbers of the entries, or ranges such as 5..20, with both ends [default: all]
    #[arg(value_name = "NUMBER")]
    numbers: Vec<String>,

    /// Print each as soon as it ends, until all have ended that are meant
    #[arg(long, env = "JLPNS_RESULTS_FOLLOW")]
    follow: bool,

    #[command(flatten)]
    patience: PatienceFlags,

    #[command(flatten)]
    place: PlaceFlags,

    /// How entries are printed: one a line, or one JSON object a line
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// Prints the entries that have ended.
pub fn run(flags: &ResultsFlags) -> Result<End, CommandError> {
    let (queue, words) = flags.place.find(flags.url.as_deref(), &flags.numbers)?;
    let numbers = numbers(&words)?;
    runtime()?.block_on(async {
        if flags.follow {
            follow(flags, &queue, numbers).await
        } else {
            list(flags, &queue, &numbers).await
        }
    })
}

fn print(output: Output, entry: QueueEntry) -> Result<State, CommandError> {
    let entry = Entry::of_wire(entry)?;
    match output {
        Output::Json => output::print_json(&entry)?,
        Output::Text => output::print_text(&entry.row())?,
    }
    Ok(entry.state)
}

/// Prints those that have ended by now, in the order of their numbers.
async fn list(
    flags: &ResultsFlags,
    queue: &RemoteQueue,
    numbers: &BTreeSet<u64>,
) -> Result<End, CommandError> {
    let states: &[State] = if numbers.is_empty() { &State::ENDED } else { &[] };
    let (mut ended, mut unended) = (Vec::new(), 0);
    let take = |entry: QueueEntry| {
        if known_state(entry.state)?.has_ended() {
            ended.push(print(flags.output, entry)?);
        } else {
            unended += 1;
        }
        Ok::<_, CommandError>(ControlFlow::Continue(()))
    };
    queue.each(numbers, states, take).await?;
    if unended > 0 {
        warn!("{} of the entries have not ended; --follow waits for them", grouped(unended));
    }
    Ok(end_of_results(ended))
}

/// Prints each as soon as it ends.
async fn follow(
    flags: &ResultsFlags,
    queue: &RemoteQueue,
    numbers: BTreeSet<u64>,
) -> Result<End, CommandError> {
    let mut meant = BTreeSet::new();
    let add = |entry: QueueEntry| {
        meant.insert(entry.number);
        Ok::<_, CommandError>(ControlFlow::Continue(()))
    };
    queue.each(&numbers, &[], add).await?;
    let mut ended = Vec::new();
    let take = |entry: QueueEntry| {
        ended.push(print(flags.output, entry)?);
        Ok::<(), CommandError>(())
    };
    let have_all_ended = flags.patience.follow(queue, meant, take).await?;
    Ok(match end_of_results(ended) {
        End::Solved if !have_all_ended => End::Unsolved,
        end => end,
    })
}
