//! How long it takes to find the move on which Connect Four ends, board by board, and how much longer than to find
//! the value alone. What is found is compared with what is published.
//!
//! `JLPNS_BENCH_SUM` is the most that columns and rows may sum up to (12), `JLPNS_BENCH_SECONDS` how long a search may
//! take (600).

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jlpns_games::spec::{AnyGame, GameSpec};
use jlpns_games::{Game, with_game};
use jlpns_search::search::{Observer, SearchSettings, search_any};
use jlpns_search::{Algorithm, Findings, Initialisation, Question, TranspositionTable};
use serde::Deserialize;

/// The bytes of the table.
const MEMORY: u64 = 1 << 30;

#[derive(Deserialize)]
struct Published {
    boards: BTreeMap<String, (String, u32)>,
}

/// Ends a search that takes too long.
struct Until(Instant);

impl Observer for Until {
    fn observe(&mut self, _: u64, _: &dyn Fn() -> Findings) -> ControlFlow<()> {
        if Instant::now() < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// The value and the last move, and the seconds that it took; none if it took too long.
fn solved(game: &AnyGame, limit: Duration) -> Option<(String, Option<u32>, f64)> {
    let scale = with_game!(game, game => game.scale());
    let question = Question::Value(scale.bounds());
    let settings = SearchSettings {
        algorithm: Algorithm::AlphaBeta,
        initialisation: Initialisation::Mobility,
        memory: MEMORY,
        ..SearchSettings::default()
    };
    let table = TranspositionTable::with_bytes(MEMORY).expect("memory for the table");
    let begun = Instant::now();
    let mut until = Until(begun + limit);
    let end =
        search_any(game, &[], question, &settings, (&table).into(), &mut until).expect("no moves");
    let value = question.bounds(&end.findings.efforts, scale).value()?;
    let seconds = begun.elapsed().as_secs_f64();
    Some((scale.value(value).to_owned(), scale.last_move(value), seconds))
}

fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let Published { boards } =
        toml::from_str(include_str!("../tests/searches/last_moves.toml")).expect("a table");
    let most = setting("JLPNS_BENCH_SUM", 12);
    let limit = Duration::from_secs(setting("JLPNS_BENCH_SECONDS", 600).into());
    let mut boards: Vec<_> = boards.into_iter().collect();
    boards.sort_by_key(|(board, _)| {
        let (width, height) = board.split_once('x').expect("a size");
        let (width, height): (u32, u32) =
            (width.parse().expect("columns"), height.parse().expect("rows"));
        (width + height, width)
    });
    println!("{:8}{:>6}{:>6}{:>10}{:>10}{:>7}", "board", "value", "move", "s", "value s", "ratio");
    for (board, (value, last_move)) in boards {
        let (width, height) = board.split_once('x').expect("a size");
        if width.parse::<u32>().expect("columns") + height.parse::<u32>().expect("rows") > most {
            continue;
        }
        let spec: GameSpec = format!("connect4:{board}").parse().expect("a spec");
        let alone = solved(spec.game(), limit);
        let by_distance = spec.by_distance().expect("it says who wins");
        let Some((found, found_move, seconds)) = solved(by_distance.game(), limit) else {
            println!("{board:8}  not within {} s", limit.as_secs());
            continue;
        };
        assert_eq!(found, value, "{board}");
        assert!(last_move == 0 || found_move == Some(last_move), "{board}: {found_move:?}");
        let (value_seconds, ratio) = match alone {
            Some((_, _, alone)) => (format!("{alone:.2}"), format!("{:.1}", seconds / alone)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let found_move = found_move.expect("it is told");
        println!("{board:8}{found:>6}{found_move:>6}{seconds:>10.2}{value_seconds:>10}{ratio:>7}");
    }
}
