//! How an [`Explorer`] is drawn.

use jlpns_games::{Bounds, OutcomeScale, Player};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Table, TableState, Wrap};

use super::knowledge::Known;
use super::model::Explorer;
use super::place::{Cell, Place};
use crate::cli::output::{efforts, grouped};

/// The least room for the list of moves: its columns, and its head with some moves.
const LIST_WIDTH: u16 = 40;
const LIST_HEIGHT: u16 = 4;
/// The lines above and below board and list; below, where all is narrow and long lines go on in the next one.
const HEAD: u16 = 2;
const FOOT: u16 = 4;
const NARROW_FOOT: u16 = 7;

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Without, all is told by characters, bold and reversed ones.
    pub colours: bool,
}

impl Palette {
    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn of_piece(self, owner: Option<Player>) -> Style {
        match owner {
            Some(Player::Max) => self.colour(Color::Yellow).add_modifier(Modifier::BOLD),
            Some(Player::Min) => self.colour(Color::Red).add_modifier(Modifier::BOLD),
            None => Style::new(),
        }
    }

    /// Green for what is good for the player to move, red for what is bad.
    fn of_value(self, bounds: Bounds, scale: &OutcomeScale, player: Player) -> Style {
        match bounds.value().map(|value| scale.winner(value)) {
            Some(Ok(Some(winner))) if winner == player => self.colour(Color::Green),
            Some(Ok(Some(_))) => self.colour(Color::Red),
            Some(_) => self.colour(Color::Cyan),
            None => Style::new(),
        }
    }
}

/// A value, or between what it lies.
pub fn value(bounds: Bounds, scale: &OutcomeScale) -> String {
    match bounds.value() {
        Some(value) => scale.name(value).to_owned(),
        None if bounds == scale.bounds() => "open".to_owned(),
        None => format!("{}..{}", scale.name(bounds.lower), scale.name(bounds.upper)),
    }
}

/// Draws all of it.
pub fn draw(frame: &mut Frame<'_>, explorer: &Explorer, palette: Palette) {
    let area = frame.area();
    let board = board(explorer, palette);
    let (width, height) = (board.width() as u16 + 2, board.len() as u16 + 2);
    let beside = (width + LIST_WIDTH, HEAD + height.max(LIST_HEIGHT + 2) + FOOT);
    let below = (width.max(LIST_WIDTH), HEAD + height + LIST_HEIGHT + 2 + NARROW_FOOT);
    let fits = |(width, height): (u16, u16)| area.width >= width && area.height >= height;
    if !fits(beside) && !fits(below) {
        let sentence = format!(
            "The terminal is too small for the board: it has {}x{} characters, and {}x{} are needed.",
            area.width, area.height, beside.0, beside.1
        );
        frame.render_widget(Paragraph::new(sentence).wrap(Wrap { trim: true }), area);
        return;
    }
    let foot = if fits(beside) { FOOT } else { NARROW_FOOT };
    let [head, middle, foot] =
        Layout::vertical([Constraint::Length(HEAD), Constraint::Min(0), Constraint::Length(foot)])
            .areas(area);
    let [left, right] = if fits(beside) {
        Layout::horizontal([Constraint::Length(width), Constraint::Min(LIST_WIDTH)]).areas(middle)
    } else {
        Layout::vertical([Constraint::Length(height), Constraint::Min(LIST_HEIGHT)]).areas(middle)
    };
    frame.render_widget(Paragraph::new(headline(explorer, palette)), head);
    let left = Rect { width: left.width.min(width), height: left.height.min(height), ..left };
    frame.render_widget(Paragraph::new(board.0).block(Block::bordered()), left);
    draw_moves(frame, right, explorer, palette);
    let footer = Paragraph::new(footer(explorer));
    // Where there is room enough for the keys, what is too long is cut.
    let footer = if fits(beside) { footer } else { footer.wrap(Wrap { trim: true }) };
    frame.render_widget(footer, foot);
}

/// The lines of a board.
struct Board(Vec<Line<'static>>);

impl Board {
    fn width(&self) -> usize {
        self.0.iter().map(Line::width).max().unwrap_or(0)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The board with room between the characters, and with what the last move has changed underlined.
fn board(explorer: &Explorer, palette: Palette) -> Board {
    let place = explorer.place();
    let before = explorer.before().map(|before: &Place| &before.board);
    let line = |(at, cells): (usize, &Vec<Cell>)| {
        let spans = cells.iter().enumerate().flat_map(|(character, cell)| {
            let mut style = palette.of_piece(cell.owner);
            let was = before.and_then(|board| board.get(at)?.get(character));
            if was.is_some_and(|was| was != cell) {
                style = style.add_modifier(Modifier::UNDERLINED);
            }
            let space = (character > 0).then(|| Span::raw(" "));
            space.into_iter().chain([Span::styled(cell.symbol.to_string(), style)])
        });
        Line::from(spans.collect::<Vec<_>>())
    };
    Board(place.board.iter().enumerate().map(line).collect())
}

fn headline(explorer: &Explorer, palette: Palette) -> Vec<Line<'static>> {
    let (place, scale) = (explorer.place(), explorer.scale());
    let bounds = explorer.bounds();
    let what = match place.text.as_str() {
        "" => explorer.spec().to_string(),
        moves => format!("{} after {moves}", explorer.spec()),
    };
    let state = match (place.outcome, bounds.value()) {
        (Some(outcome), _) => format!("the game is over: {}", scale.name(outcome)),
        (None, Some(value)) => format!("the value is {}", scale.name(value)),
        (None, None) => {
            let (lower, upper) = (scale.name(bounds.lower), scale.name(bounds.upper));
            format!("the value is between {lower} and {upper}")
        }
    };
    let player = match place.to_move {
        Player::Max => "first",
        Player::Min => "second",
    };
    let program = if explorer.program() == Some(place.to_move) { ", the program," } else { "" };
    let to_move = format!("; the {player} player{program} is to move");
    let mut state = vec![Span::styled(state, palette.of_value(bounds, scale, place.to_move))];
    if place.outcome.is_none() {
        state.push(Span::raw(to_move));
    }
    vec![
        Line::from(Span::styled(what, Style::new().add_modifier(Modifier::BOLD))),
        Line::from(state),
    ]
}

fn draw_moves(frame: &mut Frame<'_>, area: Rect, explorer: &Explorer, palette: Palette) {
    let (place, scale) = (explorer.place(), explorer.scale());
    let rows = place.moves.iter().enumerate().map(|(index, legal)| {
        let Known { bounds, first, efforts: numbers, nodes } = explorer.knowledge().of(legal);
        let mark = match explorer.best() {
            Some(best) if best == index => "best",
            Some(_) if explorer.knowledge().keeps_value(place, index) => "as good",
            _ => "",
        };
        let style = palette.of_value(bounds, scale, place.to_move);
        let effort = match bounds.value() {
            Some(_) => String::new(),
            None => efforts(scale, first, &numbers),
        };
        Row::new([
            Line::from(legal.name.clone()),
            Line::from(Span::styled(value(bounds, scale), style)),
            Line::from(mark),
            Line::from(grouped(nodes)).right_aligned(),
            Line::from(effort),
        ])
    });
    let names = place.moves.iter().map(|legal| legal.name.len()).chain([4]).max().unwrap_or(4);
    let values =
        place.moves.iter().map(|legal| value(explorer.knowledge().of(legal).bounds, scale).len());
    let values = values.chain([5]).max().unwrap_or(5);
    let widths = [
        Constraint::Length(names as u16),
        Constraint::Length(values as u16),
        Constraint::Length(7),
        Constraint::Length(11),
        Constraint::Fill(1),
    ];
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    let head = ["move", "value", ""].map(Line::from);
    let nodes = Line::from("nodes").right_aligned();
    let head = Row::new(head.into_iter().chain([nodes, Line::from("effort")]));
    let table = Table::new(rows, widths)
        .header(head.style(Style::new().add_modifier(Modifier::BOLD)))
        .block(Block::bordered())
        .row_highlight_style(reversed);
    let selected = (!place.moves.is_empty()).then(|| explorer.selected());
    let mut state = TableState::new().with_selected(selected);
    frame.render_stateful_widget(table, area, &mut state);
}

fn footer(explorer: &Explorer) -> Vec<Line<'static>> {
    let line = explorer.line().filter(|line| !line.is_empty());
    let line = line.map_or(String::new(), |line| format!("line: {}", line.join(" ")));
    let said = match explorer.typed() {
        "" => explorer.note().to_owned(),
        typed => format!("move: {typed}_"),
    };
    let key = |letter: char| match explorer.is_of_move(letter) {
        true => format!("^{}", letter.to_ascii_uppercase()),
        false => letter.to_string(),
    };
    let letters = format!(
        "{} quit, Tab play the line, End all of it, {} move now, {} play against, {} mirror",
        key('q'),
        key('n'),
        key('o'),
        key('r'),
    );
    vec![
        Line::from(said),
        Line::from(letters),
        Line::from("type a move, or up, down, Enter; left back, right forward, Home to the start"),
        Line::from(line),
    ]
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
