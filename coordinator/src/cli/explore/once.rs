//! The answer of `jlpns explore` where there is no terminal: once, and then it ends.

use std::time::Instant;

use jlpns_games::{Player, Threshold};
use jlpns_search::{Effort, EffortPair};
use serde::Serialize;

use super::looking::{Limits, Looker};
use super::model::Explorer;
use super::view;
use crate::cli::output::{self, Output, efforts, grouped, rate};
use crate::cli::{CommandError, End};

/// A legal move, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct MoveAnswer {
    #[serde(rename = "move")]
    mv: String,
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_move: Option<u32>,
    lower: String,
    upper: String,
    efforts: Vec<ThresholdEffort>,
    nodes: u64,
}

/// The effort numbers of one threshold; null is infinity.
#[derive(Debug, Serialize)]
struct ThresholdEffort {
    outcome: String,
    at_least: Option<u32>,
    less: Option<u32>,
}

/// The answer, as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Answer {
    spec: String,
    position: String,
    board: Vec<String>,
    to_move: &'static str,
    outcome: Option<String>,
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_move: Option<u32>,
    lower: String,
    upper: String,
    best_move: Option<String>,
    most_proving_move: Option<String>,
    line: Vec<String>,
    moves: Vec<MoveAnswer>,
    nodes: u64,
    seconds: f64,
}

/// Finds out about the position as much as the limits allow, and prints it.
pub fn run(
    mut explorer: Explorer,
    mut looker: Looker,
    limits: &Limits<'_>,
    output: Output,
) -> Result<End, CommandError> {
    let began = Instant::now();
    let moves = explorer.played().to_vec();
    looker.look(&moves, limits, &mut |found| explorer.learn(found))?;
    let answer = answer(&explorer, began.elapsed().as_secs_f64());
    match output {
        Output::Json => output::print_json(&answer)?,
        Output::Text => output::print_text(&text(&explorer, &answer))?,
    }
    Ok(if answer.moves.iter().all(|it| it.value.is_some()) { End::Solved } else { End::Unsolved })
}

fn answer(explorer: &Explorer, seconds: f64) -> Answer {
    let (place, scale, knowledge) = (explorer.place(), explorer.scale(), explorer.knowledge());
    let (bounds, best) = (explorer.bounds(), explorer.best());
    let most_proving = if best.is_none() { knowledge.most_promising(place) } else { None };
    let name = |index: usize| place.moves[index].name.clone();
    let moves = place.moves.iter().map(|legal| {
        let known = knowledge.of(legal);
        let numbers = known.efforts.iter().enumerate();
        let of_threshold = |(index, pair): (usize, &EffortPair)| {
            let finite = |effort: Effort| (!effort.is_infinite()).then(|| effort.to_bits());
            ThresholdEffort {
                outcome: scale.threshold_name(Threshold(known.first.0 + index as u8)),
                at_least: finite(pair.proof),
                less: finite(pair.disproof),
            }
        };
        MoveAnswer {
            mv: legal.name.clone(),
            value: known.bounds.value().map(|value| scale.value(value).to_owned()),
            last_move: known.bounds.value().and_then(|value| scale.last_move(value)),
            lower: scale.name(known.bounds.lower).to_owned(),
            upper: scale.name(known.bounds.upper).to_owned(),
            efforts: numbers.map(of_threshold).collect(),
            nodes: known.nodes,
        }
    });
    Answer {
        spec: explorer.spec().to_string(),
        position: place.text.clone(),
        board: place.board_text().lines().map(str::to_owned).collect(),
        to_move: match place.to_move {
            Player::Max => "first",
            Player::Min => "second",
        },
        outcome: place.outcome.map(|outcome| scale.value(outcome).to_owned()),
        value: bounds.value().map(|value| scale.value(value).to_owned()),
        last_move: bounds.value().and_then(|value| scale.last_move(value)),
        lower: scale.name(bounds.lower).to_owned(),
        upper: scale.name(bounds.upper).to_owned(),
        best_move: best.map(name),
        most_proving_move: most_proving.map(name),
        line: explorer.line().unwrap_or_default(),
        moves: moves.collect(),
        nodes: knowledge.nodes(place),
        seconds,
    }
}

/// The answer as lines for people.
fn text(explorer: &Explorer, answer: &Answer) -> String {
    let (place, scale, knowledge) = (explorer.place(), explorer.scale(), explorer.knowledge());
    let after = if place.text.is_empty() { "" } else { " after " };
    let on = answer.last_move.map_or(String::new(), |last_move| format!(", on move {last_move}"));
    let bounds = match (&answer.outcome, &answer.value) {
        (Some(outcome), _) => format!("the game is over: {outcome}{on}"),
        (None, Some(value)) => format!("the value is {value}{on}"),
        (None, None) => format!("the value is between {} and {}", answer.lower, answer.upper),
    };
    let mut lines = vec![place.board_text()];
    lines.push(format!("{}{after}{}: {bounds}", answer.spec, place.text));
    if !place.moves.is_empty() {
        let width = place.moves.iter().map(|legal| legal.name.len()).chain([4]).max().unwrap_or(4);
        lines.push(format!("{:width$}  value", "move"));
        lines.extend(place.moves.iter().enumerate().map(|(index, legal)| {
            let known = knowledge.of(legal);
            let best = if knowledge.keeps_value(place, index) { "  best" } else { "" };
            let effort = match known.bounds.value() {
                None if !known.efforts.is_empty() => {
                    format!("  effort {}", efforts(scale, known.first, &known.efforts))
                }
                _ => String::new(),
            };
            let value = view::value(known.bounds, scale);
            format!("{:width$}  {value}{best}{effort}", legal.name)
        }));
    }
    if !answer.line.is_empty() {
        lines.push(format!("line: {}", answer.line.join(" ")));
    }
    let (nodes, seconds) = (answer.nodes, answer.seconds);
    lines.push(format!("{} nodes, {seconds:.3} s, {}", grouped(nodes), rate(nodes, seconds)));
    lines.join("\n")
}
