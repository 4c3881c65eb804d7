//! An entry as it is written: in a line of a file, as words or as a JSON object, or with the flags of the command.

use std::fmt::Display;
use std::time::Duration;

use jlpns_games::spec::{GameSpec, Games, format_moves};
use jlpns_games::{Game, with_game};
use jlpns_proto::v1::NewEntry;
use jlpns_shell::nearest::nearest;
use serde::Deserialize;

use super::super::{CommandError, values};
use super::words::words;

/// What a line of words may have beside the spec and the moves.
const FLAGS: [&str; 7] =
    ["--moves", "--goal", "--priority", "--most-nodes", "--most-time", "--certificate", "--label"];

/// What is to become of entries, where their lines do not say it.
#[derive(Clone, Debug, clap::Args)]
pub struct EntryFlags {
    /// Moves to play from SPEC before the solve
    #[arg(long, allow_hyphen_values = true, env = "JLPNS_MOVES")]
    moves: Option<String>,

    /// What to prove, such as '>=draw' or '<=-1', from the view of the player who moves first in
    /// SPEC; without it, the exact value is found
    #[arg(long, allow_hyphen_values = true, env = "JLPNS_GOAL")]
    goal: Option<String>,

    /// The weight, from 1 to 1000: an open entry of weight 20 gets twice the slots of one of weight 10, and of those
    /// that wait the heavier begins first
    #[arg(long, value_name = "N", default_value_t = 10, env = "JLPNS_PRIORITY")]
    #[arg(value_parser = values::priority, allow_hyphen_values = true)]
    priority: u32,

    /// How many nodes the searches of an entry may create before it is stopped
    #[arg(long, value_name = "N", env = "JLPNS_MOST_NODES")]
    #[arg(value_parser = values::node_count, allow_hyphen_values = true)]
    most_nodes: Option<u64>,

    /// How long an entry may have a solve of its own before it is stopped, such as 90s or 2h
    #[arg(long, value_name = "DURATION", env = "JLPNS_MOST_TIME")]
    #[arg(value_parser = values::most_time, allow_hyphen_values = true)]
    most_time: Option<Duration>,

    /// Make a certificate of the answer
    #[arg(long, env = "JLPNS_SUBMIT_CERTIFICATE")]
    certificate: bool,

    /// What you call the entry; it comes back with the result
    #[arg(long, value_name = "TEXT", env = "JLPNS_LABEL")]
    #[arg(value_parser = values::label, allow_hyphen_values = true)]
    label: Option<String>,
}

/// What a line says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    spec: String,
    moves: Option<String>,
    goal: Option<String>,
    priority: Option<u32>,
    most_nodes: Option<u64>,
    most_time: Option<Duration>,
    certificate: Option<bool>,
    label: Option<String>,
}

/// A line that is a JSON object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    spec: String,
    moves: Option<String>,
    goal: Option<String>,
    priority: Option<u64>,
    most_nodes: Option<u64>,
    most_time: Option<String>,
    certificate: Option<bool>,
    label: Option<String>,
}

/// The value of a flag or a key, if it is one that its flag takes.
fn read<T, E: Display>(
    name: &str,
    text: &str,
    parser: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, CommandError> {
    parser(text).map_err(|why| CommandError::bad_value(name, text, why))
}

/// Notes a value that may be given once.
fn set<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), CommandError> {
    if place.replace(value).is_some() {
        return Err(CommandError::BadInput(format!("'{name}' is given twice; write it once")));
    }
    Ok(())
}

impl Line {
    /// An entry of which only the spec is given.
    pub fn of_spec(spec: &str) -> Line {
        Line { spec: spec.to_owned(), ..Line::default() }
    }

    /// What a line of a file says; none if it is blank or a comment.
    pub fn read(line: &str) -> Result<Option<Line>, CommandError> {
        if line.trim_start().starts_with('{') {
            return Line::of_object(line).map(Some);
        }
        let words = words(line).map_err(|why| CommandError::BadInput(why.to_owned()))?;
        if words.is_empty() { Ok(None) } else { Line::of_words(words).map(Some) }
    }

    fn of_object(line: &str) -> Result<Line, CommandError> {
        let object: Object = serde_json::from_str(line).map_err(|error| {
            let text = error.to_string();
            let why = text.split(" at line ").next().unwrap_or_default();
            CommandError::BadInput(format!(
                "it is no JSON object of an entry ({why}); write one such as {{\"spec\":\"connect4:7x6\",\"moves\":\"444\"}}"
            ))
        })?;
        let number = |name, number: Option<u64>| (name, number.map(|number| number.to_string()));
        let (name, priority) = number("priority", object.priority);
        let priority = priority.map(|text| read(name, &text, values::priority)).transpose()?;
        let (name, nodes) = number("most_nodes", object.most_nodes);
        let most_nodes = nodes.map(|text| read(name, &text, values::node_count)).transpose()?;
        let time = object.most_time.map(|text| read("most_time", &text, values::most_time));
        let label = object.label.map(|text| read("label", &text, values::label));
        Ok(Line {
            spec: object.spec,
            moves: object.moves,
            goal: object.goal,
            priority,
            most_nodes,
            most_time: time.transpose()?,
            certificate: object.certificate,
            label: label.transpose()?,
        })
    }

    fn of_words(words: Vec<String>) -> Result<Line, CommandError> {
        let mut line = Line::default();
        let (mut spec, mut moves) = (None, Vec::new());
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                if spec.is_none() {
                    spec = Some(word)
                } else {
                    moves.push(word)
                }
                continue;
            }
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            line.take(&flag, value, &mut words)?;
        }
        line.spec = spec.ok_or_else(|| {
            CommandError::BadInput(
                "the spec is missing; write it first, as in connect4:7x6 444 --goal >=draw"
                    .to_owned(),
            )
        })?;
        if !moves.is_empty() {
            set(&mut line.moves, "--moves", moves.join(" "))?;
        }
        Ok(line)
    }

    /// Takes a flag with its value, which may be the next word.
    fn take(
        &mut self,
        flag: &str,
        value: Option<String>,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), CommandError> {
        if !FLAGS.contains(&flag) {
            let hint = match nearest(flag, FLAGS.into_iter()) {
                Some(near) => format!("'{near}' is one"),
                None => format!("those of an entry are {}", FLAGS.join(", ")),
            };
            let shown: String = flag.chars().take(60).collect();
            return Err(CommandError::BadInput(format!("there is no flag '{shown}'; {hint}")));
        }
        if flag == "--certificate" {
            return match value {
                Some(value) => {
                    let why = "it takes no value; write --certificate alone, or leave it out";
                    Err(CommandError::bad_value(flag, &value, why))
                }
                None => set(&mut self.certificate, flag, true),
            };
        }
        let text = value.or_else(|| rest.next()).ok_or_else(|| {
            CommandError::BadInput(format!("'{flag}' has no value; write one behind it"))
        })?;
        match flag {
            "--moves" => set(&mut self.moves, flag, text),
            "--goal" => set(&mut self.goal, flag, text),
            "--priority" => set(&mut self.priority, flag, read(flag, &text, values::priority)?),
            "--most-nodes" => {
                set(&mut self.most_nodes, flag, read(flag, &text, values::node_count)?)
            }
            "--most-time" => set(&mut self.most_time, flag, read(flag, &text, values::most_time)?),
            _ => set(&mut self.label, flag, read(flag, &text, values::label)?),
        }
    }
}

/// Makes entries of lines, with games that this program knows.
pub struct Checker<'a> {
    games: &'a Games,
    defaults: &'a EntryFlags,
    /// The last spec as it was written, and its game: many lines are of one game.
    last: Option<(String, GameSpec)>,
}

impl<'a> Checker<'a> {
    /// What lines do not say is as in the flags.
    pub fn new(games: &'a Games, defaults: &'a EntryFlags) -> Checker<'a> {
        Checker { games, defaults, last: None }
    }

    fn spec(&mut self, text: &str) -> Result<GameSpec, CommandError> {
        if let Some((last, spec)) = &self.last
            && last == text
        {
            return Ok(spec.clone());
        }
        let spec = values::spec(text, self.games)?;
        self.last = Some((text.to_owned(), spec.clone()));
        Ok(spec)
    }

    /// The entry that a line stands for, in standard form.
    pub fn entry(&mut self, line: Line) -> Result<NewEntry, CommandError> {
        let spec = self.spec(&line.spec)?;
        let defaults = self.defaults;
        let moves = line.moves.as_deref().or(defaults.moves.as_deref()).unwrap_or_default();
        let goal = line.goal.as_deref().or(defaults.goal.as_deref());
        let (moves, goal) = with_game!(spec.game(), game => {
            let moves = values::moves(game, moves)?;
            let goal = values::goal(game.scale(), goal)?;
            let goal = goal.map(|goal| goal.display(game.scale()).to_string());
            (format_moves(game, &moves), goal)
        });
        let most_time = line.most_time.or(defaults.most_time).unwrap_or_default();
        Ok(NewEntry {
            spec: spec.as_str().to_owned(),
            moves,
            goal,
            priority: line.priority.unwrap_or(defaults.priority),
            most_nodes: line.most_nodes.or(defaults.most_nodes).unwrap_or(0),
            // A flag takes no more than a year.
            most_time_ms: most_time.as_millis() as u64,
            certificate: line.certificate.unwrap_or(defaults.certificate),
            label: line.label.or_else(|| defaults.label.clone()).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
