//! `--positions`: many positions, one a line, each answered in the order read as soon as it is known.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jlpns_games::spec::{GameSpec, format_moves, parse_moves, position_after};
use jlpns_games::{Game, Goal, Move, with_game};
use jlpns_search::answer::{Proved, learn_children};
use jlpns_search::search::SearchSettings;
use jlpns_search::{Question, TranspositionTable};
use serde::Serialize;

use super::best_line::LineFlags;
use super::interrupt::Interrupt;
use super::output::{self, Answer, Asked, Output, grouped, pace};
use super::progress::Progress;
use super::{CommandError, End};
use crate::many::{ManyPositions, SearchedPosition};

/// The flag of `solve` and `search`.
#[derive(Debug, clap::Args)]
pub struct PositionsFlags {
    /// Answer many positions: one a line of this file ('-' is the standard input), as moves from SPEC; what
    /// follows a '#' is a comment
    #[arg(long, value_name = "FILE", env = "JLPNS_POSITIONS")]
    positions: Option<PathBuf>,
}

/// What is asked of each position, and how.
pub struct ManyAsked<'a> {
    /// The game.
    pub spec: &'a GameSpec,
    /// Moves to play before those of a line.
    pub moves: &'a str,
    /// The goal, if it is not the value.
    pub goal: Option<Goal>,
    /// How each is searched.
    pub settings: &'a SearchSettings,
    /// How many searches run at a time.
    pub slots: u32,
    /// How many moves of a line are shown.
    pub line: LineFlags,
    /// How results are printed.
    pub output: Output,
}

/// What is printed of a position as JSON.
#[derive(Debug, Serialize)]
struct PositionResult {
    /// The number of its line, from 1.
    number: u64,
    #[serde(flatten)]
    answer: Answer,
    nodes: u64,
}

impl PositionsFlags {
    /// Whether the flag is there.
    pub fn are_given(&self) -> bool {
        self.positions.is_some()
    }

    /// Answers the positions, if there are any.
    pub fn run(&self, asked: &ManyAsked<'_>) -> Result<End, CommandError> {
        self.positions.as_ref().map_or(Ok(End::Solved), |file| asked.run(file))
    }
}

impl ManyAsked<'_> {
    fn run(&self, file: &PathBuf) -> Result<End, CommandError> {
        let input: Box<dyn BufRead + Send> = if file.as_os_str() == "-" {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let opened = File::open(file).map_err(|error| {
                CommandError::bad_value("--positions", &file.display().to_string(), error)
            })?;
            Box::new(BufReader::new(opened))
        };
        let spec = self.spec;
        let scale = with_game!(spec.game(), game => game.scale());
        let interrupt = Interrupt::listen(None)?;
        let mut progress = Progress::start();
        let (nodes, is_bad) = (AtomicU64::new(0), AtomicBool::new(false));
        let numbers = Mutex::new(std::collections::VecDeque::new());
        let lock = || numbers.lock().unwrap_or_else(PoisonError::into_inner);
        // A line is read when a search is free for it.
        let read = |(number, line): (u64, io::Result<String>)| {
            let moves = match line {
                Ok(line) => self.moves_of(&line).transpose()?,
                Err(error) => Err(error.to_string()),
            };
            let moves = moves.inspect_err(|why| {
                is_bad.store(true, Ordering::Relaxed);
                tracing::error!("line {number} of {}: {why}", file.display());
            });
            let moves = moves.ok()?;
            lock().push_back(number);
            Some(moves)
        };
        let positions = (1..).zip(input.lines()).filter_map(read);
        let table = TranspositionTable::with_bytes(self.settings.table_bytes())
            .map_err(|error| CommandError::BadInput(format!("'--memory': {error}")))?;
        let many = ManyPositions {
            spec,
            question: match self.goal {
                Some(goal) => Question::Threshold(goal.threshold()),
                None => Question::Value(scale.bounds()),
            },
            settings: self.settings,
            table: &table,
            threads: self.slots as usize,
            is_stopped: &|| interrupt.is_asked(),
            nodes: &nodes,
        };
        let (mut answered, mut open) = (0, 0);
        let mut failure = None;
        let done = many.search(positions, |found| {
            let number = lock().pop_front().unwrap_or(0);
            answered += 1;
            open += u64::from(found.end.stopped.is_some());
            let printed = self.answer(&many, &found, &interrupt).and_then(|answer| {
                let nodes = found.end.statistics.nodes;
                match self.output {
                    Output::Json => {
                        output::print_json(&PositionResult { number, answer, nodes })?;
                    }
                    Output::Text => output::print_text(&row(&answer))?,
                }
                Ok(())
            });
            progress.show_when_due(nodes.load(Ordering::Relaxed), |_, a_second| {
                format!("{} positions, {}", grouped(answered), pace(a_second, "nodes"))
            });
            failure = printed.err();
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        progress.finish();
        done?;
        match failure {
            Some(failure) => Err(failure),
            None if is_bad.into_inner() => Ok(End::BadInput),
            None if open > 0 || interrupt.is_asked() => Ok(End::Unsolved),
            None => Ok(End::Solved),
        }
    }

    /// The moves of a line; none if it is blank or a comment.
    fn moves_of(&self, line: &str) -> Result<Option<Vec<Move>>, String> {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            return Ok(None);
        }
        let text = format!("{} {line}", self.moves);
        with_game!(self.spec.game(), game => parse_moves(game, &text))
            .map(Some)
            .map_err(|error| error.to_string())
    }

    fn answer(
        &self,
        many: &ManyPositions<'_>,
        found: &SearchedPosition,
        interrupt: &Interrupt,
    ) -> Result<Answer, CommandError> {
        let SearchedPosition { moves, bounds, end } = found;
        let scale = with_game!(self.spec.game(), game => game.scale());
        let name = self.settings.algorithm.name();
        let played = with_game!(self.spec.game(), game => format_moves(game, moves));
        let asked =
            Asked { spec: self.spec.as_str(), moves: played, algorithm: name, goal: self.goal };
        let verdict = end.findings.efforts[0].verdict();
        let proved = self.goal.and_then(|goal| verdict.map(|holds| goal.proved_when(holds)));
        let answer = Answer::new(asked, proved, *bounds, scale);
        if answer.proved.is_none() {
            return Ok(answer);
        }
        with_game!(self.spec.game(), game => {
            let mut position = position_after(game, moves)?;
            let children = &end.findings.children;
            learn_children(game, &mut position, many.question, children, many.table);
        });
        let proved = Proved { bounds: *bounds, goal: self.goal };
        let line = self.line.find(self.spec, moves, proved, many.table, interrupt)?;
        Ok(answer.with_line(line))
    }
}

/// A line for people: the moves, what is known, and the best move.
fn row(answer: &Answer) -> String {
    let known = match (&answer.goal, answer.proved, &answer.value) {
        (_, _, Some(value)) => match answer.last_move {
            Some(last_move) => format!("{value} {last_move}"),
            None => value.clone(),
        },
        (Some(goal), Some(proved), None) => {
            format!("{goal} {}", if proved { "proved" } else { "disproved" })
        }
        _ => format!("{} to {}", answer.lower, answer.upper),
    };
    format!("{}  {known}  {}", answer.moves, answer.best_move.as_deref().unwrap_or("-"))
}
