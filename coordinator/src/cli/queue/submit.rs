//! `jlpns submit`: entries for a queue, of the command or of a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use jlpns_games::spec::Games;
use jlpns_proto::MAX_SUBMITTED;
use jlpns_proto::v1::{NewEntry, SubmitRequest};
use serde::Serialize;

use super::super::output::{self, Output, grouped};
use super::super::settings::random_secret;
use super::super::{CommandError, End};
use super::entry::position;
use super::follow::PatienceFlags;
use super::line::{Checker, EntryFlags, Line};
use super::place::PlaceFlags;
use super::remote::RemoteQueue;
use super::runtime;
use super::wait::wait_for;

/// How many entries are printed one a line.
const EACH: usize = 20;
/// How many bad lines are told.
const TOLD: usize = 20;

/// What `jlpns submit` is given.
#[derive(Debug, clap::Args)]
pub struct SubmitFlags {
    /// The coordinator, as http://HOST:PORT or https://HOST:PORT; or several such, with commas between
    url: Option<String>,

    /// The games, each of which is an entry
    #[arg(value_name = "SPEC")]
    specs: Vec<String>,

    /// Submit what is in this file ('-' is the standard input): one entry a line, as SPEC [MOVES...] [FLAGS...] or as
    /// a JSON object; what follows a '#' is a comment
    #[arg(long, value_name = "FILE", env = "JLPNS_SUBMIT_FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    entry: EntryFlags,

    /// Wait until the entries have ended, as `jlpns wait` does
    #[arg(long, env = "JLPNS_SUBMIT_WAIT")]
    wait: bool,

    #[command(flatten)]
    patience: PatienceFlags,

    #[command(flatten)]
    place: PlaceFlags,

    /// How the numbers are printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// An entry that was submitted, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Submitted<'a> {
    number: u64,
    spec: &'a str,
    moves: &'a str,
    goal: Option<&'a str>,
    label: Option<&'a str>,
}

/// Checks all entries, submits them and prints their numbers.
pub fn run(flags: &SubmitFlags, games: &Games) -> Result<End, CommandError> {
    let (queue, specs) = flags.place.find(flags.url.as_deref(), &flags.specs)?;
    let mut checker = Checker::new(games, &flags.entry);
    let entries = match &flags.file {
        Some(file) if specs.is_empty() => of_text(&mut checker, &name_of(file), &text_of(file)?)?,
        None if !specs.is_empty() => specs
            .iter()
            .map(|spec| checker.entry(Line::of_spec(spec)))
            .collect::<Result<Vec<NewEntry>, CommandError>>()?,
        _ => {
            return Err(CommandError::BadInput(
                "write what is submitted: one SPEC or more, or --file FILE, and not both"
                    .to_owned(),
            ));
        }
    };
    runtime()?.block_on(async {
        let mut numbers = Vec::with_capacity(entries.len());
        let sent = send(&queue, &entries, &mut numbers).await;
        // What was taken is told, whatever became of the rest.
        print(flags.output, &numbers, &entries)?;
        sent?;
        if !flags.wait || numbers.is_empty() {
            return Ok(End::Solved);
        }
        wait_for(&queue, numbers.into_iter().collect(), &flags.patience, flags.output).await
    })
}

fn name_of(file: &Path) -> String {
    if file.as_os_str() == "-" {
        "the standard input".to_owned()
    } else {
        file.display().to_string()
    }
}

/// What is in the file.
fn text_of(file: &Path) -> Result<String, CommandError> {
    let text = if file.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    text.map_err(|error| {
        let why = format!("it cannot be read ({error}); name a file of text, or '-'");
        CommandError::bad_value("--file", &file.display().to_string(), why)
    })
}

/// The entries of all lines of a text; or what is wrong, of each line with which something is.
fn of_text(
    checker: &mut Checker<'_>,
    name: &str,
    text: &str,
) -> Result<Vec<NewEntry>, CommandError> {
    let (mut entries, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let number: u64 = number;
        let read = Line::read(line).and_then(|line| match line {
            Some(line) => checker.entry(line).map(Some),
            None => Ok(None),
        });
        match read {
            Ok(entry) => entries.extend(entry),
            Err(CommandError::BadInput(why)) => bad.push(format!("line {number} of {name}: {why}")),
            Err(other) => return Err(other),
        }
    }
    if !bad.is_empty() {
        let many = bad.len();
        bad.truncate(TOLD);
        let lines = if many == 1 { "1 line is".to_owned() } else { format!("{many} lines are") };
        bad.push(format!("nothing was submitted: {lines} wrong"));
        return Err(CommandError::BadInput(bad.join("\nerror: ")));
    }
    if entries.is_empty() {
        return Err(CommandError::BadInput(format!(
            "{name} has no entry; write one a line, such as connect4:7x6 444"
        )));
    }
    Ok(entries)
}

/// Submits the entries, in as many requests as it takes, and adds the numbers that they get.
async fn send(
    queue: &RemoteQueue,
    entries: &[NewEntry],
    numbers: &mut Vec<u64>,
) -> Result<(), CommandError> {
    let process = format!("{:032x}", random_secret());
    for (counter, part) in entries.chunks(MAX_SUBMITTED).enumerate() {
        let submission = format!("{process}-{counter}");
        let request = SubmitRequest { entries: part.to_vec(), submission };
        let had = numbers.len();
        let answer = queue.submit(&request, counter == 0).await;
        let added = answer
            .map_err(|error| if had == 0 { error } else { in_part(error, had, entries.len()) })?;
        if added.len() != part.len() {
            return Err(CommandError::Failed(anyhow!(
                "the coordinator at {} gave {} numbers to {} entries; use this program with a coordinator of its own \
                 build",
                queue.name(),
                added.len(),
                part.len()
            )));
        }
        numbers.extend(added);
    }
    Ok(())
}

/// The same failure, after some of the entries were submitted.
fn in_part(error: CommandError, had: usize, all: usize) -> CommandError {
    let note = format!("the first {had} of {all} entries were submitted, the others were not");
    match error {
        // Something was submitted, so it does not end as bad input does.
        CommandError::BadInput(why) => CommandError::Failed(anyhow!("{note}: {why}")),
        CommandError::Failed(error) => CommandError::Failed(error.context(note)),
        other => other,
    }
}

fn print(output: Output, numbers: &[u64], entries: &[NewEntry]) -> Result<(), CommandError> {
    match output {
        Output::Json => {
            for (&number, entry) in numbers.iter().zip(entries) {
                output::print_json(&Submitted {
                    number,
                    spec: &entry.spec,
                    moves: &entry.moves,
                    goal: entry.goal.as_deref(),
                    label: Some(entry.label.as_str()).filter(|label| !label.is_empty()),
                })?;
            }
        }
        Output::Text if numbers.len() > EACH => output::print_text(&runs(numbers))?,
        Output::Text => {
            for (number, entry) in numbers.iter().zip(entries) {
                let position = position(&entry.spec, &entry.moves);
                output::print_text(&format!("{number} {position}"))?;
            }
        }
    }
    Ok(())
}

/// Many numbers in a line: `entries 1 to 1000`, with an `and` where others came between.
fn runs(numbers: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number == last.saturating_add(1) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    if runs.len() > EACH {
        return format!("{} entries", grouped(numbers.len() as u64));
    }
    let run = |&(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    format!("entries {}", runs.iter().map(run).collect::<Vec<_>>().join(" and "))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// A command that takes the flags of an entry.
    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        entry: EntryFlags,
    }

    fn read(text: &str) -> Result<Vec<NewEntry>, String> {
        let games = Games::built_in();
        let command = Command::try_parse_from(["command"]).expect("nothing is required");
        let entries = of_text(&mut Checker::new(&games, &command.entry), "FILE", text);
        entries.map_err(|error| match error {
            CommandError::BadInput(sentence) => sentence,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn all_lines_are_entries_in_their_order() {
        let text = "# two games\nconnect4:7x6 444\n\n{\"spec\":\"woodpush:10\"}\r\n";
        let entries = read(text).expect("all lines are good");
        let specs: Vec<&str> = entries.iter().map(|entry| entry.spec.as_str()).collect();
        assert_eq!(specs, ["connect4:7x6", "woodpush:10"]);
    }

    #[test]
    fn each_bad_line_is_told_with_its_number() {
        let sentence = read("connect4:7x6\n#\nchess:8\nconnect4:7x6 9\n").expect_err("two are bad");
        let lines: Vec<&str> = sentence.lines().collect();
        assert!(lines[0].starts_with("line 3 of FILE: invalid value 'chess:8'"), "{sentence}");
        assert!(lines[1].starts_with("error: line 4 of FILE: invalid value '9'"), "{sentence}");
        assert_eq!(lines[2..], ["error: nothing was submitted: 2 lines are wrong"]);
        let many = read(&"x\n".repeat(50)).expect_err("all are bad");
        assert_eq!(many.lines().count(), TOLD + 1);
        assert!(many.ends_with("50 lines are wrong"), "{many}");
        assert!(read("# nothing\n").expect_err("none").contains("FILE has no entry"));
    }

    #[test]
    fn many_numbers_are_one_line() {
        let numbers: Vec<u64> = (1..=1000).collect();
        assert_eq!(runs(&numbers), "entries 1 to 1000");
        assert_eq!(runs(&[1, 2, 3, 7, 9, 10]), "entries 1 to 3 and 7 and 9 to 10");
        let apart: Vec<u64> = (1..=1000).map(|number| number * 2).collect();
        assert_eq!(runs(&apart), "1 000 entries");
    }

    #[test]
    fn what_was_submitted_before_a_failure_is_told() {
        let CommandError::Failed(error) =
            in_part(CommandError::Failed(anyhow!("lost")), 4096, 5000)
        else {
            panic!("it failed")
        };
        let text = format!("{error:#}");
        assert_eq!(
            text,
            "the first 4096 of 5000 entries were submitted, the others were not: lost"
        );
    }
}
