//! The pass: layer by layer, each position's move is played, and every reply to it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

use crate::header::Claim;
use crate::layer::{Collector, Merge, Position, Spill};
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

/// The rules of a game, and the position in question. What refuses a claim ends a sentence.
pub(crate) trait Rules: Sync {
    /// A position with the claimant to move, in standard form.
    type Position: Position;

    /// Collects the positions of the first layer. A refusal has the board in question after it.
    fn first(&self, claim: &Claim, next: &mut Vec<Self::Position>) -> Result<(), String>;

    /// How many bytes say what the claimant does in a position: a number first, and then a plan where there may
    /// be one.
    fn entry_bytes(&self) -> usize {
        1
    }

    /// Plays the move that an entry has the number of, and collects what the replies lead to, as far as it is of
    /// the next layer.
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

/// Where the numbers of a claim come from.
pub(crate) trait Source<G: Rules> {
    /// What gives the numbers of some positions, to a thread.
    type Numbers: Numbers<G>;

    /// The layers of a claim begin.
    fn claim_begins(&mut self, _claim: &Claim) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes the next positions of the layer, at least one, and what gives their numbers.
    fn piece(
        &mut self,
        place: Place<'_>,
        layer: &mut Merge<G::Position>,
    ) -> Result<(Vec<G::Position>, Self::Numbers), Failure>;

    /// All moves of a layer have been played.
    fn layer_ended(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The claim holds, with the numbers that were used.
    fn claim_ended(&mut self, _place: Place<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Numbers that are still to be unpacked, or found.
pub(crate) trait Numbers<G: Rules>: Send {
    /// One entry for each of these positions, one after the other.
    fn numbers(self, rules: &G, positions: &[G::Position]) -> Result<Vec<u8>, Failure>;
}

impl<G: Rules> Numbers<G> for Vec<u8> {
    fn numbers(self, _: &G, _: &[G::Position]) -> Result<Vec<u8>, Failure> {
        Ok(self)
    }
}

/// How far a claim is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) layer: u64,
    /// How many positions of the layer have got their numbers.
    pub(crate) first: u64,
    /// How many numbers were used in all.
    pub(crate) used: u64,
}

/// The walk through the layers of one claim.
pub(crate) struct Pass<'a, G> {
    rules: &'a G,
    claim: &'a Claim,
    settings: &'a Settings,
    layer: u64,
    used: u64,
}

/// What a thread does at once: positions, and what gives their numbers.
struct Piece<P, N> {
    first: u64,
    positions: Vec<P>,
    numbers: N,
}

/// A failure, and the place in the layer of the position that has it: the first is told, whichever was found first.
type Found = (u64, Failure);

impl<'a, G: Rules> Pass<'a, G> {
    pub(crate) fn new(rules: &'a G, claim: &'a Claim, settings: &'a Settings) -> Pass<'a, G> {
        Pass { rules, claim, settings, layer: 0, used: 0 }
    }

    /// Goes through all layers. Gives how many numbers that takes.
    pub(crate) fn run(mut self, source: &mut impl Source<G>) -> Result<u64, Failure> {
        let claim = self.claim;
        source.claim_begins(claim)?;
        let spill = Spill::new(self.settings);
        let mut first = Collector::new(self.settings, &spill);
        if let Err(why) = self.rules.first(claim, &mut first.positions) {
            refuse!(Fails, "claim {claim} fails before any move of the file: {why}");
        }
        let kept = vec![first.finish()];
        let mut layer = spill.merge(kept)?;
        while !layer.is_empty() {
            self.layer += 1;
            layer = self.next(layer, source)?;
            source.layer_ended()?;
        }
        source.claim_ended(self.place(0))?;
        Ok(self.used)
    }

    /// The place after so many positions of the present layer.
    fn place(&self, first: u64) -> Place<'a> {
        Place { claim: self.claim, layer: self.layer, first, used: self.used + first }
    }

    /// Plays the moves of a layer, and gives the next one.
    fn next(
        &mut self,
        mut layer: Merge<G::Position>,
        source: &mut impl Source<G>,
    ) -> Result<Merge<G::Position>, Failure> {
        let spill = Spill::new(self.settings);
        let threads = self.settings.threads.get();
        let (send, pieces) = sync_channel(threads);
        let (pieces, stop) = (Mutex::new(pieces), AtomicBool::new(false));
        let pass = &*self;
        let take = || pieces.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let mut first = 0;
        let ends = thread::scope(|scope| {
            let send = send;
            let (mut workers, mut ends) = (Vec::new(), Vec::new());
            while !layer.is_empty() && !stop.load(Ordering::Relaxed) {
                let piece = match source.piece(pass.place(first), &mut layer) {
                    Ok((positions, numbers)) => Piece { first, positions, numbers },
                    // Whatever a thread finds is of an earlier position than this.
                    Err(failure) => {
                        ends.push(Err((u64::MAX, failure)));
                        break;
                    }
                };
                first += piece.positions.len() as u64;
                if layer.is_empty() && workers.is_empty() {
                    // A small layer is done sooner than a thread has begun.
                    ends.push(pass.work(iter::once(piece), &stop, &spill));
                    break;
                }
                if workers.len() < threads {
                    workers.push(scope.spawn(|| pass.work(iter::from_fn(&take), &stop, &spill)));
                }
                // The other end outlives the threads, and they take pieces to the last.
                let _ = send.send(piece);
            }
            drop(send);
            for worker in workers {
                ends.push(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            ends
        });
        let (kept, found): (Vec<_>, Vec<_>) = ends.into_iter().partition(Result::is_ok);
        if let Some((_, failure)) =
            found.into_iter().filter_map(Result::err).min_by_key(|found| found.0)
        {
            return Err(failure);
        }
        self.used += first;
        spill.merge(kept.into_iter().flatten().collect())
    }

    /// Plays pieces, until there are no more.
    fn work(
        &self,
        pieces: impl Iterator<Item = Piece<G::Position, impl Numbers<G>>>,
        stop: &AtomicBool,
        spill: &Spill<G::Position>,
    ) -> Result<Vec<G::Position>, Found> {
        let mut next = Collector::new(self.settings, spill);
        let mut found = Ok(());
        for piece in pieces {
            // A piece that is taken after a failure is of later positions: it is only out of the way.
            if !stop.load(Ordering::Relaxed) {
                found = self.play(piece, &mut next);
                stop.fetch_or(found.is_err(), Ordering::Relaxed);
            }
        }
        found.map(|()| next.finish())
    }

    fn play(
        &self,
        piece: Piece<G::Position, impl Numbers<G>>,
        next: &mut Collector<G::Position>,
    ) -> Result<(), Found> {
        let numbers = piece.numbers.numbers(self.rules, &piece.positions);
        let numbers = numbers.map_err(|failure| (piece.first, failure))?;
        let entry_bytes = self.rules.entry_bytes();
        // No position may be left without a move.
        assert_eq!(
            numbers.len(),
            piece.positions.len() * entry_bytes,
            "an entry for each position"
        );
        let entries = numbers.chunks_exact(entry_bytes);
        for (place, (position, entry)) in (piece.first..).zip(piece.positions.iter().zip(entries)) {
            let played = self.rules.play(self.claim, position, entry, &mut next.positions);
            let played = played.or_else(|why| {
                let board = self.rules.draw(self.claim, position);
                let (claim, layer, position) = (self.claim, self.layer, place + 1);
                refuse!(
                    Fails,
                    "claim {claim} fails in layer {layer}, position {position}: {why}\n{board}"
                )
            });
            played.and_then(|()| next.added()).map_err(|failure| (place, failure))?;
        }
        Ok(())
    }
}
