//! Results on stdout: one JSON object, or a few lines for people.

use std::io::Write;

use jlpns_games::{Bounds, Goal, OutcomeScale, Threshold};
use jlpns_search::{Algorithm, EffortPair};
use jlpns_solve::{SolveStatus, value_in_words};
use serde::Serialize;

use super::best_line::BestLine;
use super::terminal;

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// A few lines for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// The fields that tell what was asked and what is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The game's spec in its standard form.
    pub spec: String,
    /// The moves after it, by their names.
    pub moves: String,
    /// The algorithm; of a solve `job-level-gpns` or `job-level-pns`, whose jobs run the sub-search.
    pub algorithm: String,
    /// The goal in its standard form, if there is one.
    pub goal: Option<String>,
    /// Without a goal: `true` when the value is known. With one: `true` proved, `false` disproved.
    /// `None` when the search stopped before.
    pub proved: Option<bool>,
    /// The value from Max's view, once it is known.
    pub value: Option<String>,
    /// The move on which the game ends, if the outcomes tell these apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_move: Option<u32>,
    /// The worst value for Max that is still possible.
    pub lower: String,
    /// The best value for Max that is still possible.
    pub upper: String,
    /// A move that is proved to keep the value, or to fulfil the goal.
    pub best_move: Option<String>,
    /// Where no move is proved to, the one that is most proving.
    pub most_proving_move: Option<String>,
    /// Moves that keep what is proved, one after the other, up to the end of the game.
    pub line: Vec<String>,
    /// The sub-search of the jobs, if there are jobs.
    pub sub_search: Option<String>,
    /// How frontier nodes are selected, if there are jobs.
    pub selection: Option<String>,
    /// How many claims the answer rests on that one machine alone has made.
    pub unconfirmed_claims: u64,
}

/// What a search was asked.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The game's spec in its standard form.
    pub spec: &'a str,
    /// The moves after it, by their names.
    pub moves: String,
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The goal, if there is one.
    pub goal: Option<Goal>,
}

impl Answer {
    /// What is known now: `bounds` of the value, and the verdict on the goal, if there is one and
    /// it has been reached.
    pub fn new(
        asked: Asked<'_>,
        proved: Option<bool>,
        bounds: Bounds,
        scale: &OutcomeScale,
    ) -> Answer {
        let proved = match asked.goal {
            Some(_) => proved,
            None => bounds.value().map(|_| true),
        };
        Answer {
            spec: asked.spec.to_owned(),
            moves: asked.moves,
            algorithm: asked.algorithm.to_owned(),
            goal: asked.goal.map(|goal| goal.display(scale).to_string()),
            proved,
            value: bounds.value().map(|outcome| scale.value(outcome).to_owned()),
            last_move: bounds.value().and_then(|outcome| scale.last_move(outcome)),
            lower: scale.name(bounds.lower).to_owned(),
            upper: scale.name(bounds.upper).to_owned(),
            best_move: None,
            most_proving_move: None,
            line: Vec::new(),
            sub_search: None,
            selection: None,
            unconfirmed_claims: 0,
        }
    }

    /// What the status of a solve tells. The top-level tree is PNS for a goal and GPNS for the
    /// value.
    pub fn of_solve(status: &SolveStatus) -> Answer {
        let claims = status.answer_claims.zip(status.answer_confirmed);
        let unconfirmed = claims.map(|(claims, confirmed)| claims.saturating_sub(confirmed));
        let top_level = if status.goal.is_some() { Algorithm::Pns } else { Algorithm::Gpns };
        let proved = match status.goal {
            Some(_) => status.proved,
            None => status.value.as_ref().map(|_| true),
        };
        Answer {
            spec: status.spec.clone(),
            moves: status.moves.clone(),
            algorithm: format!("job-level-{}", top_level.name()),
            goal: status.goal.clone(),
            proved,
            value: status.value.clone(),
            last_move: status.last_move,
            lower: status.lower.clone(),
            upper: status.upper.clone(),
            best_move: status.best_move.clone(),
            most_proving_move: status.most_proving_move.clone(),
            line: Vec::new(),
            sub_search: Some(status.sub_search.clone()),
            selection: Some(status.selection.clone()),
            unconfirmed_claims: unconfirmed.unwrap_or(0),
        }
    }

    /// The same with a line of moves. Its first move is the best, if one can be called so.
    pub fn with_line(mut self, line: BestLine) -> Answer {
        if line.best.is_some() {
            (self.best_move, self.most_proving_move) = (line.best, None);
        }
        Answer { line: line.moves, ..self }
    }

    /// What is known of moves, to go on after the headline: the best move, and the line.
    pub fn moves_for_people(&self) -> String {
        let mut text = match (&self.best_move, &self.most_proving_move) {
            (Some(best), _) => format!("; best move {best}"),
            (None, Some(most_proving)) => format!("; most-proving move {most_proving}"),
            (None, None) => String::new(),
        };
        if !self.line.is_empty() {
            text += &format!("\nline: {}", self.line.join(" "));
        }
        text
    }

    /// The first line for people: what is now known.
    pub fn headline(&self) -> String {
        let position = match self.moves.as_str() {
            "" => self.spec.clone(),
            moves => format!("{} after {moves}", self.spec),
        };
        let bounds = match &self.value {
            Some(value) => value_in_words(value, self.last_move),
            None => format!("the value is between {} and {}", self.lower, self.upper),
        };
        match (&self.goal, self.proved) {
            (Some(goal), Some(true)) => format!("{position}: {goal} is proved; {bounds}"),
            (Some(goal), Some(false)) => format!("{position}: {goal} is disproved; {bounds}"),
            (Some(goal), None) => format!("{position}: {goal} is still open; {bounds}"),
            (None, Some(_)) => format!("{position}: {bounds}"),
            (None, None) => format!("{position}: unsolved; {bounds}"),
        }
    }
}

/// The most thresholds whose numbers are shown in a line.
pub const THRESHOLDS_SHOWN: usize = 4;

/// Proof and disproof numbers of each threshold asked, from the first: `12/7 3/40`. If there are too many for a line,
/// those of the lowest and of the highest that is still open, with their names: `draw 12/7, win-23 3/40`.
pub fn efforts(scale: &OutcomeScale, first: Threshold, efforts: &[EffortPair]) -> String {
    let numbers = |pair: &EffortPair| format!("{}/{}", pair.proof, pair.disproof);
    if efforts.len() <= THRESHOLDS_SHOWN {
        return efforts.iter().map(numbers).collect::<Vec<_>>().join(" ");
    }
    let mut open = efforts.iter().enumerate().filter(|(_, pair)| !pair.is_solved());
    let named = |(index, pair): (usize, &EffortPair)| {
        let threshold = Threshold(first.0 + index as u8);
        format!("{} {}", scale.threshold_name(threshold), numbers(pair))
    };
    let (lowest, highest) = (open.next(), open.next_back());
    lowest.into_iter().chain(highest).map(named).collect::<Vec<_>>().join(", ")
}

/// An effort number that is infinite if it is not there.
pub fn effort(number: Option<u32>) -> String {
    number.map_or_else(|| "inf".to_owned(), |number| grouped(number.into()))
}

/// Writes a result to stdout as one line of JSON.
pub fn print_json(result: &impl Serialize) -> anyhow::Result<()> {
    print_text(&serde_json::to_string(result)?)
}

/// Writes lines to stdout. A reader who has gone away is no failure of the search.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    match terminal::without_line(|| writeln!(std::io::stdout().lock(), "{text}")) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// A table whose columns are as wide as their widest cells.
pub fn columns<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let headings = headings.map(str::to_owned);
    let lines = || std::iter::once(&headings).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|column| lines().map(|line| line[column].len()).max().unwrap_or(0));
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A number with its digits in groups of three: `12 345 678`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// How many nodes a second: `8.5 M nodes/s`.
pub fn rate(nodes: u64, seconds: f64) -> String {
    rate_of(nodes, "nodes", seconds)
}

/// How many of something a second, in a unit that is easy to read.
pub fn rate_of(count: u64, what: &str, seconds: f64) -> String {
    pace(if seconds > 0.0 { count as f64 / seconds } else { 0.0 }, what)
}

/// So many of something a second, in a unit that is easy to read.
pub fn pace(a_second: f64, what: &str) -> String {
    match a_second {
        r if r >= 1e6 => format!("{:.1} M {what}/s", r / 1e6),
        r if r >= 1e3 => format!("{:.1} k {what}/s", r / 1e3),
        r => format!("{r:.0} {what}/s"),
    }
}

#[cfg(test)]
mod tests {
    use jlpns_games::Outcome;

    use super::*;

    #[test]
    fn numbers_are_grouped_from_the_right() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1 000");
        assert_eq!(grouped(12_345_678), "12 345 678");
    }

    #[test]
    fn the_headline_tells_what_is_known() {
        let scale = OutcomeScale::named(["loss", "draw", "win"]);
        let answer = |goal, proved, lower, upper| {
            let asked = Asked { spec: "g", moves: "12".to_owned(), algorithm: "pns", goal };
            let bounds = Bounds { lower: Outcome(lower), upper: Outcome(upper) };
            Answer::new(asked, proved, bounds, &scale)
        };
        let at_least_draw = Some(Goal::AtLeast(Outcome(1)));
        let proved = answer(at_least_draw, Some(true), 1, 2);
        assert_eq!((proved.proved, proved.value.as_deref()), (Some(true), None));
        let headline = "g after 12: >=draw is proved; the value is between draw and win";
        assert_eq!(proved.headline(), headline);
        let disproved = answer(at_least_draw, Some(false), 0, 0);
        assert_eq!(disproved.headline(), "g after 12: >=draw is disproved; the value is loss");
        let solved = answer(None, None, 1, 1);
        assert_eq!((solved.proved, solved.value.as_deref()), (Some(true), Some("draw")));
        assert_eq!(solved.headline(), "g after 12: the value is draw");
        let open = answer(None, None, 0, 1);
        assert_eq!(open.proved, None);
        assert_eq!(open.headline(), "g after 12: unsolved; the value is between loss and draw");
    }
}
