//! The pass: layer by layer, each position's move is played, and every reply to it.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use crate::connect4::Connect4;
use crate::header::{Claim, Game, Header};
use crate::layer::{Collector, Layer, NextLayer, Position};
use crate::woodpush::Woodpush;
use crate::{Failure, Settings};

/// A position with the claimant to move, for those who know their moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board<'a> {
    /// Connect Four. Cell `r` of column `c`, both counted from 0, is bit `c * (rows + 1) + r`.
    Connect4 {
        /// The claimant's stones.
        claimant: u128,
        /// All stones.
        all: u128,
    },
    /// Woodpush: the board, then the earlier ones that can be recreated. Bit `i` is Left's piece on cell `i`,
    /// and bit `32 + i` is Right's.
    Woodpush(&'a [u64]),
}

/// Positions that follow each other in a layer.
pub type Boards<'a> = &'a mut dyn ExactSizeIterator<Item = Board<'a>>;

/// Where the claimant's moves come from. What it gives need not be believed: the pass plays it.
pub trait Moves {
    /// How many of the next positions of the layer can have their entries, at least one.
    fn at_hand(&mut self, place: Place<'_>) -> Result<usize, Failure>;

    /// One entry for each of these positions, which are the next of the layer, and no more than are at hand: the
    /// number of the claimant's move among the legal ones. In the compact kind it has a plan after it, of a byte for each
    /// cell, and 128 is added to the number if the plan says how the game goes on; else the plan is zeros.
    fn entries(&mut self, place: Place<'_>, boards: Boards<'_>) -> Result<Vec<u8>, Failure>;

    /// The layer has no more positions, and all its moves have been played.
    fn layer_ended(&mut self, place: Place<'_>) -> Result<(), Failure>;
}

/// How far a claim is.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The claim that is to be shown.
    pub claim: &'a Claim,
    /// The layer's number, from 1 on.
    pub layer: u64,
    /// How many positions of the layer have got their entries.
    pub position: u64,
    /// How many positions of the claim have.
    pub used: u64,
}

/// The way through the layers of a claim.
pub trait Pass {
    /// Plays all moves that the claim needs, to where nothing is left to be met. Gives how many that were.
    fn run(&self, claim: &Claim, moves: &mut dyn Moves) -> Result<u64, Failure>;
}

/// The pass for the claims of a header.
pub fn pass<'s>(header: &Header, settings: &'s Settings) -> Result<Box<dyn Pass + 's>, Failure> {
    let entry_bytes = header.entry_bytes();
    Ok(match header.game {
        Game::Connect4 { columns, rows } if columns * (rows + 1) <= 64 => {
            let rules = Connect4::<u64>::new(columns, rows, header)?;
            Box::new(Layers { rules, entry_bytes, settings })
        }
        Game::Connect4 { columns, rows } => {
            let rules = Connect4::<u128>::new(columns, rows, header)?;
            Box::new(Layers { rules, entry_bytes, settings })
        }
        Game::Woodpush { cells, board } => {
            let rules = Woodpush::new(cells, board, &header.moves, settings)?;
            Box::new(Layers { rules, entry_bytes, settings })
        }
    })
}

/// The rules of a game, and the position in question. What refuses a claim ends a sentence.
pub(crate) trait Rules: Sync {
    /// A position with the claimant to move, in standard form.
    type Position: Position;

    /// Collects the positions of the first layer. A refusal has the board in question after it.
    fn first(&self, claim: &Claim, next: &mut Vec<Self::Position>) -> Result<(), String>;

    /// Plays the move that an entry names, and collects what the replies lead to, as far as it is of the next layer.
    fn play(
        &self,
        claim: &Claim,
        position: &Self::Position,
        entry: &[u8],
        next: &mut Vec<Self::Position>,
    ) -> Result<(), String>;

    /// A position, for those who know their moves.
    fn board<'a>(&self, position: &'a Self::Position) -> Board<'a>;

    /// A position as a board, for people.
    fn draw(&self, claim: &Claim, position: &Self::Position) -> String;
}

/// The pass by the rules of one game.
struct Layers<'s, G> {
    rules: G,
    entry_bytes: usize,
    settings: &'s Settings,
}

/// What a thread plays at once: positions from a place on, and their entries.
struct Piece<'a, P> {
    place: Place<'a>,
    positions: Vec<P>,
    entries: Vec<u8>,
}

/// A failure, and the place in the layer of the position that has it: the first is told, whichever was found first.
type Found = (u64, Failure);

impl<G: Rules> Pass for Layers<'_, G> {
    fn run(&self, claim: &Claim, moves: &mut dyn Moves) -> Result<u64, Failure> {
        let mut place = Place { claim, layer: 0, position: 0, used: 0 };
        let (next, mut first) = (NextLayer::new(self.settings), Vec::new());
        if let Err(why) = self.rules.first(claim, &mut first) {
            refuse!(Fails, "claim {claim} fails before any move of the file: {why}");
        }
        let mut collector = Collector::new(&next);
        collector.add(&mut first)?;
        collector.finish();
        let mut layer = next.finish()?;
        while !layer.is_empty() {
            (place.layer, place.position) = (place.layer + 1, 0);
            layer = self.next(&mut place, layer, moves)?;
            moves.layer_ended(place)?;
        }
        Ok(place.used)
    }
}

impl<G: Rules> Layers<'_, G> {
    /// Plays the moves of a layer, and gives the next one. The place goes to the layer's end.
    fn next(
        &self,
        place: &mut Place<'_>,
        mut layer: Layer<G::Position>,
        moves: &mut dyn Moves,
    ) -> Result<Layer<G::Position>, Failure> {
        let (next, stop) = (NextLayer::new(self.settings), AtomicBool::new(false));
        let threads = self.settings.threads.get();
        let (send, pieces) = sync_channel(threads);
        let pieces = Mutex::new(pieces);
        let take = || pieces.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let work = || {
            let mut collector = Collector::new(&next);
            let mut play = |piece| self.play(piece, &mut collector);
            let played = AssertUnwindSafe(|| iter::from_fn(take).try_for_each(&mut play));
            let played = catch_unwind(played);
            stop.fetch_or(!matches!(played, Ok(Ok(()))), Ordering::Relaxed);
            // What is taken after a failure is of later positions: it is only out of the way.
            iter::from_fn(take).for_each(drop);
            collector.finish();
            played.unwrap_or_else(|panic| resume_unwind(panic))
        };
        let ends: Vec<Result<(), Found>> = thread::scope(|scope| {
            let (send, mut read, mut workers) = (send, Ok(()), Vec::new());
            while !layer.is_empty() && read.is_ok() && !stop.load(Ordering::Relaxed) {
                let piece = match self.piece(place, &mut layer, moves) {
                    Ok(piece) => piece,
                    // Whatever a thread finds is of an earlier position than this.
                    Err(failure) => {
                        read = Err((u64::MAX, failure));
                        break;
                    }
                };
                if layer.is_empty() && workers.is_empty() {
                    // It is done sooner than a thread has begun.
                    let mut collector = Collector::new(&next);
                    read = self.play(piece, &mut collector);
                    collector.finish();
                    break;
                }
                // The other end outlives the threads, and they take pieces to the last.
                drop(send.send(piece));
                if workers.len() < threads {
                    match thread::Builder::new().spawn_scoped(scope, work) {
                        Ok(worker) => workers.push(worker),
                        Err(error) if workers.is_empty() => {
                            let why = format!("there is no thread for the check: {error}");
                            read = Err((u64::MAX, Failure::Trouble(why)));
                        }
                        // The others do it.
                        Err(_) => {}
                    }
                }
            }
            drop(send);
            let ended = workers.into_iter().map(ScopedJoinHandle::join);
            ended
                .map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)))
                .chain([read])
                .collect()
        });
        match ends.into_iter().filter_map(Result::err).min_by_key(|found| found.0) {
            Some((_, failure)) => Err(failure),
            None => next.finish(),
        }
    }

    /// The next positions of a layer, with their entries.
    fn piece<'a>(
        &self,
        place: &mut Place<'a>,
        layer: &mut Layer<G::Position>,
        moves: &mut dyn Moves,
    ) -> Result<Piece<'a, G::Position>, Failure> {
        let begin = *place;
        let positions = layer.take(moves.at_hand(begin)?)?;
        assert!(!positions.is_empty(), "at least one position's entries are at hand");
        let mut boards = positions.iter().map(|position| self.rules.board(position));
        let entries = moves.entries(begin, &mut boards)?;
        // No position may be left without a move.
        assert_eq!(entries.len(), positions.len() * self.entry_bytes, "an entry for each position");
        place.position += positions.len() as u64;
        place.used += positions.len() as u64;
        Ok(Piece { place: begin, positions, entries })
    }

    fn play(
        &self,
        piece: Piece<'_, G::Position>,
        collector: &mut Collector<'_, G::Position>,
    ) -> Result<(), Found> {
        let Place { claim, layer, position: first, .. } = piece.place;
        let mut next = Vec::new();
        let entries = piece.entries.chunks_exact(self.entry_bytes);
        for (place, (position, entry)) in (first..).zip(piece.positions.iter().zip(entries)) {
            if let Err(why) = self.rules.play(claim, position, entry, &mut next) {
                let board = self.rules.draw(claim, position);
                let number = place + 1;
                let why = format!(
                    "claim {claim} fails in layer {layer}, position {number}: {why}\n{board}"
                );
                return Err((place, Failure::Fails(why)));
            }
            collector.add(&mut next).map_err(|failure| (place, failure))?;
        }
        Ok(())
    }
}
