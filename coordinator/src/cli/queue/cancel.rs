//! `jlpns cancel`: entries taken out of a queue.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Serialize;

use super::super::output::{self, Output, grouped};
use super::super::{CommandError, End};
use super::entry::State;
use super::numbers::numbers;
use super::place::PlaceFlags;
use super::runtime;

/// What `jlpns cancel` is given.
#[derive(Debug, clap::Args)]
pub struct CancelFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    url: Option<String>,

    /// The numbers of the entries, or ranges such as 5..20, with both ends
    #[arg(value_name = "NUMBER")]
    numbers: Vec<String>,

    /// Take out all entries that have not ended
    #[arg(id = "cancel_all", long = "all")]
    all: bool,

    #[command(flatten)]
    place: PlaceFlags,

    /// How what was done is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// What was done, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Cancelled {
    /// How many entries were named.
    entries: u64,
    /// How many of them were taken out; the others had ended.
    cancelled: u64,
}

/// Takes the entries out, and prints how many that were.
pub fn run(flags: &CancelFlags) -> Result<End, CommandError> {
    let (queue, words) = flags.place.find(flags.url.as_deref(), &flags.numbers)?;
    let mut numbers = numbers(&words)?;
    if numbers.is_empty() != flags.all {
        return Err(CommandError::BadInput(
            "write the numbers of the entries to cancel, or --all for all that have not ended, and not both"
                .to_owned(),
        ));
    }
    let done = runtime()?.block_on(async {
        if flags.all {
            let unended = [State::Waiting, State::Open];
            let add = |entry: jlpns_proto::v1::QueueEntry| {
                numbers.insert(entry.number);
                Ok::<_, CommandError>(ControlFlow::Continue(()))
            };
            queue.each(&BTreeSet::new(), &unended, add).await?;
        }
        let cancelled = queue.cancel(&numbers).await?;
        Ok::<Cancelled, CommandError>(Cancelled { entries: numbers.len() as u64, cancelled })
    })?;
    match flags.output {
        Output::Json => output::print_json(&done)?,
        Output::Text => output::print_text(&text(&done))?,
    }
    Ok(End::Solved)
}

/// A line for people.
fn text(done: &Cancelled) -> String {
    let ended = done.entries.saturating_sub(done.cancelled);
    let cancelled = match done.cancelled {
        1 => "1 entry was cancelled".to_owned(),
        many => format!("{} entries were cancelled", grouped(many)),
    };
    match ended {
        0 => cancelled,
        ended => format!("{cancelled}, {} had ended before", grouped(ended)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_a_line() {
        let line = |entries, cancelled| text(&Cancelled { entries, cancelled });
        assert_eq!(line(1, 1), "1 entry was cancelled");
        assert_eq!(line(5, 3), "3 entries were cancelled, 2 had ended before");
        assert_eq!(line(0, 0), "0 entries were cancelled");
    }
}
