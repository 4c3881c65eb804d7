//! What `jlpns explore` shows, and how it changes: without a terminal, threads or clocks.

use std::collections::{BTreeMap, BTreeSet};

use jlpns_games::spec::{GameSpec, MoveError};
use jlpns_games::{Bounds, Move, OutcomeScale, Player};

use super::keys::Action;
use super::knowledge::{Knowledge, Known};
use super::place::{self, Place};

/// So many nodes the program thinks about a move that is not proved to be best, and then plays the one that
/// promises most.
const THINKING: u64 = 20_000_000;

/// What was found out about the position that is looked at, or one near it.
#[derive(Clone, Debug)]
pub enum Found {
    /// Of the position with this key.
    Position(u128, Known),
    /// Moves that keep what is proved of the position after some moves.
    Line(Vec<Move>, ProvedLine),
}

/// Moves that follow each other and keep what is proved; none if they could not be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedLine {
    /// The moves.
    pub moves: Vec<Move>,
    /// Whether they keep the value, or else no more than a goal: then no move of theirs can be called best.
    pub keeps_value: bool,
}

/// A walk through a game, with all that is known on its way.
#[derive(Clone, Debug)]
pub struct Explorer {
    spec: GameSpec,
    /// The moves to where it began.
    start: Vec<Move>,
    played: Vec<Move>,
    /// Moves that were taken back, the last one first in the order of play.
    undone: Vec<Move>,
    place: Place,
    before: Option<Place>,
    selected: usize,
    typed: String,
    note: String,
    knowledge: Knowledge,
    /// The line from each position of which one is known, by the moves to it.
    lines: BTreeMap<Vec<Move>, ProvedLine>,
    /// Whom the program plays.
    program: Option<Player>,
    /// The characters of the moves' names that were met.
    letters: BTreeSet<char>,
    /// How often the position has changed.
    version: u64,
    over: bool,
}

impl Explorer {
    /// A walk that begins after these moves.
    pub fn new(spec: GameSpec, start: Vec<Move>) -> Result<Explorer, MoveError> {
        let (first, place) = (Place::after(&spec, &[])?, Place::after(&spec, &start)?);
        let mut explorer = Explorer {
            spec,
            played: start.clone(),
            start,
            undone: Vec::new(),
            before: None,
            selected: 0,
            typed: String::new(),
            note: String::new(),
            knowledge: Knowledge::default(),
            lines: BTreeMap::new(),
            program: None,
            letters: letters(&first).chain(letters(&place)).collect(),
            place,
            version: 0,
            over: false,
        };
        explorer.select_best();
        Ok(explorer)
    }

    /// The game.
    pub fn spec(&self) -> &GameSpec {
        &self.spec
    }

    /// Its outcomes.
    pub fn scale(&self) -> &OutcomeScale {
        place::scale(&self.spec)
    }

    /// The position.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The position before the last move, if that is how it was come to.
    pub fn before(&self) -> Option<&Place> {
        self.before.as_ref()
    }

    /// The moves to the position.
    pub fn played(&self) -> &[Move] {
        &self.played
    }

    /// What is known.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Between what the position's value lies.
    pub fn bounds(&self) -> Bounds {
        self.knowledge.bounds(&self.place)
    }

    /// The place in the list of the move that is looked at.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// What is typed.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// A sentence on what happened last.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Whom the program plays.
    pub fn program(&self) -> Option<Player> {
        self.program
    }

    /// How often the position has changed.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether the user has ended it.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Whether a character may be one of a move's name.
    pub fn is_of_move(&self, character: char) -> bool {
        self.letters.contains(&character)
    }

    /// The names of the moves that keep what is proved.
    pub fn line(&self) -> Option<Vec<String>> {
        let line = self.lines.get(&self.played)?;
        let mut moves = self.played.clone();
        let mut names = Vec::with_capacity(line.moves.len());
        for &mv in &line.moves {
            let place = Place::after(&self.spec, &moves).ok()?;
            names.push(place.moves.iter().find(|legal| legal.mv == mv)?.name.clone());
            moves.push(mv);
        }
        Some(names)
    }

    /// The best move: the first of the line where the value is known, or else one that keeps the value.
    pub fn best(&self) -> Option<usize> {
        let place = &self.place;
        self.bounds().value()?;
        let line = self.lines.get(&self.played).filter(|line| line.keeps_value);
        let first = line.and_then(|line| line.moves.first());
        let first = first.and_then(|&mv| place.moves.iter().position(|legal| legal.mv == mv));
        first.or_else(|| (0..place.moves.len()).find(|&at| self.knowledge.keeps_value(place, at)))
    }

    /// Takes in what was found out; the program may move upon it.
    pub fn learn(&mut self, found: Found) {
        match found {
            Found::Position(key, known) => self.knowledge.add(key, known),
            Found::Line(played, line) => {
                self.lines.insert(played, line);
            }
        }
        self.let_program_move();
    }

    /// Does what the user wants.
    pub fn act(&mut self, action: Action) {
        self.note.clear();
        if !matches!(action, Action::Type(_) | Action::Erase | Action::Play | Action::Escape) {
            self.typed.clear();
        }
        let last = self.place.moves.len().saturating_sub(1);
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::Play if self.typed.is_empty() => self.play_at(self.selected),
            Action::Play => self.play_typed(),
            Action::Type(character) => self.type_on(character),
            Action::Erase if self.typed.pop().is_some() => {}
            Action::Erase | Action::Back => self.back(),
            Action::Forward => match self.undone.pop() {
                Some(mv) => self.play_on(mv),
                None => self.play_at(self.selected),
            },
            Action::Home => self.go_to(self.start.clone()),
            Action::Follow => self.follow(1),
            Action::End => self.follow(usize::MAX),
            Action::Mirror => match place::mirrored(&self.spec, &self.played) {
                Some(_) if !place::has_mirror(&self.spec) => self.note = NO_MIRROR.to_owned(),
                Some(mirrored) => self.go_to(mirrored),
                None => self.note = NO_MIRROR.to_owned(),
            },
            Action::Opponent => self.change_program(),
            Action::MoveNow => self.move_now(),
            Action::Escape if !self.typed.is_empty() => self.typed.clear(),
            Action::Escape | Action::Quit => self.over = true,
        }
        self.let_program_move();
    }

    fn type_on(&mut self, character: char) {
        self.typed.push(character);
        let names = || self.place.moves.iter().filter(|it| it.name.starts_with(&self.typed));
        if let Some(legal) = names().next()
            && names().count() == 1
            && legal.name == self.typed
        {
            self.play_typed();
        }
    }

    fn play_typed(&mut self) {
        let typed = std::mem::take(&mut self.typed);
        match self.place.moves.iter().position(|legal| legal.name == typed) {
            Some(index) => self.play_at(index),
            None if self.place.moves.is_empty() => self.note = OVER.to_owned(),
            None => {
                let names: Vec<&str> =
                    self.place.moves.iter().map(|legal| legal.name.as_str()).collect();
                self.note = format!("'{typed}' is not legal; legal here: {}", names.join(" "));
            }
        }
    }

    fn play_at(&mut self, index: usize) {
        match self.place.moves.get(index) {
            Some(legal) => {
                let mv = legal.mv;
                // Who plays a move that was taken back is still on the same way.
                if self.undone.last() == Some(&mv) {
                    self.undone.pop();
                } else {
                    self.undone.clear();
                }
                self.play_on(mv);
            }
            None => self.note = OVER.to_owned(),
        }
    }

    /// Plays a legal move.
    fn play_on(&mut self, mv: Move) {
        let line = self.lines.get(&self.played).filter(|line| line.keeps_value);
        let rest = line.and_then(|line| line.moves.strip_prefix(&[mv]));
        let rest = rest.map(|rest| ProvedLine { moves: rest.to_vec(), keeps_value: true });
        self.played.push(mv);
        if let Some(rest) = rest {
            self.lines.entry(self.played.clone()).or_insert(rest);
        }
        let before = self.place.clone();
        self.arrive();
        self.before = Some(before);
    }

    fn back(&mut self) {
        // The program would make its move again at once.
        let mut moves = if self.program == Some(self.place.to_move.opponent()) { 2 } else { 1 };
        if self.played.is_empty() {
            self.note = "this is the start of the game".to_owned();
        }
        while moves > 0
            && let Some(mv) = self.played.pop()
        {
            self.undone.push(mv);
            moves -= 1;
            self.arrive();
        }
    }

    fn follow(&mut self, most: usize) {
        let line = self.lines.get(&self.played).map(|line| line.moves.clone());
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            self.note = match self.place.outcome {
                Some(_) => OVER.to_owned(),
                None => "no line is known yet".to_owned(),
            };
            return;
        };
        self.undone.clear();
        line.into_iter().take(most).for_each(|mv| self.play_on(mv));
    }

    fn change_program(&mut self) {
        self.program = match self.program {
            Some(_) => None,
            None => Some(self.place.to_move.opponent()),
        };
        self.note = match self.program {
            Some(_) => "the program plays the other side; it takes its time to find a proved move"
                .to_owned(),
            None => "the program plays no side".to_owned(),
        };
    }

    /// Moves for whoever is to move, with what is known.
    fn move_now(&mut self) {
        let best = self.best();
        let Some(index) = best.or_else(|| self.knowledge.most_promising(&self.place)) else {
            self.note = OVER.to_owned();
            return;
        };
        let name = self.place.moves[index].name.clone();
        self.undone.clear();
        self.play_at(index);
        let how = if best.is_some() { "" } else { ", which is not proved to be best" };
        self.note = format!("the program played {name}{how}");
    }

    fn let_program_move(&mut self) {
        if self.program != Some(self.place.to_move) || self.place.outcome.is_some() {
            return;
        }
        // The line comes soon after the value, and of lost moves has the one that is hardest to refute.
        let has_line = self.lines.get(&self.played).is_some_and(|line| line.keeps_value);
        let ready = self.bounds().value().is_some() && has_line;
        if ready || self.knowledge.nodes(&self.place) >= THINKING {
            self.move_now();
        }
    }

    fn go_to(&mut self, moves: Vec<Move>) {
        self.played = moves;
        self.undone.clear();
        self.arrive();
    }

    /// After the moves have changed.
    fn arrive(&mut self) {
        self.place = Place::after(&self.spec, &self.played).expect("legal moves are played");
        self.before = None;
        self.letters.extend(letters(&self.place));
        self.typed.clear();
        self.version += 1;
        self.select_best();
    }

    fn select_best(&mut self) {
        let best = self.best().or_else(|| self.knowledge.most_promising(&self.place));
        self.selected = best.unwrap_or(0);
    }
}

const OVER: &str = "the game is over";
const NO_MIRROR: &str = "this game has no mirror images";

fn letters(place: &Place) -> impl Iterator<Item = char> {
    place.moves.iter().flat_map(|legal| legal.name.chars())
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
