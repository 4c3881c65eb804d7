//! Solves boards of Connect Four on one core and prints what that took: the value, positions
//! created, seconds, positions a second.
//!
//! ```text
//! cargo run --release -p jlpns-tests --example connect4 -- 6x5 7x5 6x6 7x6
//! cargo run --release -p jlpns-tests --example connect4 -- --plain --algorithm dfpn 6x5
//! ```
//!
//! `--plain` leaves the game's knowledge unused, `--without RULE` a piece of it: `double-threat`, `follow-up`,
//! `pairs`, `vertical`, `led-threats`, `tempo`, `lines-left`, `turned-column`, `turned-pair`, `aftereven` or `wins`; `--memory 512MiB` is
//! the size of the table, and `--threshold 2` asks for a win only.

use std::time::Instant;

use jlpns_games::connect4::{Connect4, Rules};
use jlpns_games::{Game, Threshold};
use jlpns_search::memory::parse;
use jlpns_search::search::{SearchSettings, search};
use jlpns_search::{Algorithm, Initialisation, Question, TranspositionTable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = SearchSettings {
        algorithm: Algorithm::AlphaBeta,
        initialisation: Initialisation::Mobility,
        ..SearchSettings::default()
    };
    let mut threshold = None;
    let mut rules = Rules::default();
    let mut boards = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--without" => match value()?.as_str() {
                "double-threat" => rules.double_threat = false,
                "follow-up" => rules.follow_up = false,
                "pairs" => rules.pairs = false,
                "led-threats" => rules.led_threats = false,
                "tempo" => rules.tempo = false,
                "lines-left" => rules.lines_left = false,
                "turned-column" => rules.turned_column = false,
                "turned-pair" => rules.turned_pair = false,
                "vertical" => rules.vertical = false,
                "aftereven" => rules.aftereven = false,
                "wins" => rules.wins_by_follow_up = false,
                other => return Err(format!("'{other}' is none of the rules").into()),
            },
            "--plain" => settings.knowledge = false,
            "--algorithm" => settings.algorithm = value()?.parse()?,
            "--memory" => settings.memory = parse(&value()?)?,
            "--threshold" => threshold = Some(Threshold(value()?.parse()?)),
            _ => boards.push(argument),
        }
    }
    for board in boards {
        let (width, height) = board.split_once('x').ok_or("write a board as 7x6")?;
        let (width, height) = (width.parse()?, height.parse()?);
        match Connect4::<u64>::new(width, height) {
            Ok(game) => solve(&board, &game.with_rules(rules), threshold, &settings)?,
            Err(_) => {
                let game = Connect4::<u128>::new(width, height)?.with_rules(rules);
                solve(&board, &game, threshold, &settings)?;
            }
        }
    }
    Ok(())
}

fn solve<G: Game>(
    board: &str,
    game: &G,
    threshold: Option<Threshold>,
    settings: &SearchSettings,
) -> Result<(), Box<dyn std::error::Error>> {
    let table = TranspositionTable::with_bytes(settings.table_bytes())?;
    let question = threshold.map_or(Question::Value(game.scale().bounds()), Question::Threshold);
    let start = Instant::now();
    let end = search(game, &mut game.start(), question, settings, &table, &mut ());
    let seconds = start.elapsed().as_secs_f64();
    let bounds = question.bounds(&end.findings.efforts, game.scale());
    println!(
        "{board}: {} to {}, {} nodes, {} descents, {seconds:.3} s, {:.2} million nodes/s, {} in the table",
        game.scale().name(bounds.lower),
        game.scale().name(bounds.upper),
        end.statistics.nodes,
        end.statistics.descents,
        end.statistics.nodes as f64 / seconds / 1e6,
        table.len(),
    );
    Ok(())
}
