use jlpns_games::spec::GameSpec;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;
use crate::cli::explore::keys::Action;

fn explorer(spec: &str) -> Explorer {
    let spec: GameSpec = spec.parse().expect("a spec");
    Explorer::new(spec, Vec::new()).expect("the start")
}

fn drawn(explorer: &Explorer, width: u16, height: u16, colours: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| draw(frame, explorer, Palette { colours })).expect("it is drawn");
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines = buffer.content.chunks(width);
    lines.map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
}

#[test]
fn board_moves_and_what_was_typed_are_shown() {
    let mut explorer = explorer("connect4:7x6");
    "44".chars().for_each(|column| explorer.act(Action::Type(column)));
    explorer.act(Action::Type('8'));
    let shown = text(&drawn(&explorer, 80, 24, true));
    for part in [
        "connect4:7x6 after 44",
        "the value is between loss and win; the first player is to move",
        "│. . . o . . .│",
        "│. . . x . . .│",
        "│1 2 3 4 5 6 7│",
        "move value",
        "open",
        "move: 8_",
        "q quit",
    ] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
}

#[test]
fn pieces_have_the_colours_of_their_players_unless_none_are_wanted() {
    for (spec, moves, piece) in [("connect4:7x6", "4", "x"), ("woodpush:8", "", "L")] {
        let mut explorer = explorer(spec);
        moves.chars().for_each(|column| explorer.act(Action::Type(column)));
        let coloured = drawn(&explorer, 80, 24, true);
        let pieces = |buffer: &Buffer| {
            let cells = buffer.content.iter().filter(|cell| cell.symbol() == piece);
            cells.map(|cell| cell.fg).collect::<Vec<Color>>()
        };
        assert!(pieces(&coloured).contains(&Color::Yellow), "{spec}");
        let plain = drawn(&explorer, 80, 24, false);
        assert!(!pieces(&plain).is_empty());
        assert!(
            plain.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
        );
        assert_eq!(text(&plain), text(&coloured));
    }
}

#[test]
fn the_last_move_is_underlined() {
    let mut explorer = explorer("connect4:7x6");
    "45".chars().for_each(|column| explorer.act(Action::Type(column)));
    let buffer = drawn(&explorer, 80, 24, false);
    let underlined = |cell: &&ratatui::buffer::Cell| cell.modifier.contains(Modifier::UNDERLINED);
    let marked: Vec<&str> =
        buffer.content.iter().filter(underlined).map(|cell| cell.symbol()).collect();
    assert_eq!(marked, ["o"]);
}

#[test]
fn a_terminal_that_is_too_small_gets_a_sentence_and_none_panics() {
    let explorer = explorer("connect4:7x6");
    let small = text(&drawn(&explorer, 40, 8, true));
    let small = small.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(small.contains("The terminal is too small for the board"), "{small}");
    assert!(small.contains("55x15 are needed"), "{small}");
    assert!(text(&drawn(&explorer, 55, 15, true)).contains("│1 2 3 4 5 6 7│"));
    // Narrow and high, the list is below.
    let high = text(&drawn(&explorer, 42, 24, true));
    assert!(high.contains("│1 2 3 4 5 6 7│") && high.contains("open"), "{high}");
    for (width, height) in (1..60).flat_map(|width| (1..30).map(move |height| (width, height))) {
        drawn(&explorer, width, height, true);
    }
}

#[test]
fn the_move_that_is_looked_at_is_on_the_screen() {
    let mut explorer = explorer("connect4:30x3");
    (0..29).for_each(|_| explorer.act(Action::Down));
    let buffer = drawn(&explorer, 102, 16, false);
    let shown = text(&buffer);
    let reversed = buffer.content.iter().find(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(reversed.map(|cell| cell.symbol()), Some("u"), "{shown}");
    assert!(shown.contains("^Q quit") && shown.contains("^R mirror"), "{shown}");
}
