//! The thread that searches what is looked at, while it is looked at.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use jlpns_games::Move;

use super::looking::{Limits, Looker};
use super::model::Found;

/// The thread. It ends, within a few thousand nodes of its searches, when this value is dropped.
pub struct Background {
    shared: Arc<Shared>,
    found: Receiver<Found>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its owner share.
#[derive(Default)]
struct Shared {
    /// How many positions were asked for so far; a search for an earlier one stops.
    asked: AtomicU64,
    next: Mutex<Next>,
    changed: Condvar,
}

/// What the thread is to do next.
#[derive(Default)]
struct Next {
    position: Option<Vec<Move>>,
    over: bool,
}

impl Shared {
    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Next)) {
        // Under the lock, or a thread that takes the change at once would take it for an earlier one.
        let mut next = self.next();
        change(&mut next);
        self.asked.fetch_add(1, Ordering::Release);
        drop(next);
        self.changed.notify_all();
    }

    /// Waits for the next position; none at the end. With it comes how many were asked for when it was.
    fn wait(&self) -> Option<(Vec<Move>, u64)> {
        let mut next = self.next();
        loop {
            if next.over {
                return None;
            }
            let asked = self.asked.load(Ordering::Acquire);
            if let Some(position) = next.position.take() {
                return Some((position, asked));
            }
            next = self.changed.wait(next).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The thread that searches has died; what it said is on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread that searches died, which is an error of this program")]
pub struct SearchDied;

impl Background {
    /// Starts the thread.
    pub fn start(looker: Looker) -> io::Result<Background> {
        let (sender, found) = mpsc::channel();
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        let thread = thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || work(looker, &of_thread, &sender))?;
        Ok(Background { shared, found, thread: Some(thread) })
    }

    /// Has it search the position after these moves, and nothing else any more.
    pub fn look_at(&self, moves: &[Move]) {
        self.shared.change(|next| next.position = Some(moves.to_vec()));
    }

    /// What was found since the last call, one thing at a time.
    pub fn found(&self) -> Result<Option<Found>, SearchDied> {
        match self.found.try_recv() {
            Ok(found) => Ok(Some(found)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(SearchDied),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.shared.change(|next| next.over = true);
        if let Some(thread) = self.thread.take() {
            // If it has died, it has said why.
            let _ = thread.join();
        }
    }
}

fn work(mut looker: Looker, shared: &Shared, sender: &Sender<Found>) {
    while let Some((moves, asked)) = shared.wait() {
        let is_stopped = || shared.asked.load(Ordering::Acquire) != asked;
        let limits = Limits { nodes: None, is_stopped: &is_stopped };
        // Who does not listen any more is about to end this thread.
        let looked = looker.look(&moves, &limits, &mut |found| drop(sender.send(found)));
        looked.expect("only legal moves are asked for");
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
