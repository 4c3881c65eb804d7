//! The pure core of a queue: what was submitted, what is worked on, what became of it, and how the slots of the
//! workers are shared. No clocks, threads or I/O: time comes in with each call, in milliseconds since 1970 by
//! the clock of the coordinator, and what is to be done comes out as [`QueueAction`]s.
//!
//! - [`entry`]: what is submitted, and how it ends.
//! - [`record`]: what must not be forgotten; the state of a queue is what its records make of an empty one.
//! - [`shares`]: who gets how many slots of which worker.
//!
//! An entry is first asked for as one of the many positions of a [sweep](Sweep): of all entries of one game and goal,
//! each is given to one search with a bounded number of nodes. What that does not answer gets a **solve of its own**,
//! with a tree, and so does what asks for a certificate.

mod applied;
pub mod entry;
pub mod record;
pub mod shares;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use entry::{Asked, EndKind, Entry, Found, State};
use jlpns_solve::belief::Identity;
use jlpns_solve::{AskedPosition, FoundOfPosition, Tidings};
use record::{NumberedEntry, QueueRecord};

/// How a queue goes about its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// How many nodes the one search of a position may create.
    pub sweep_nodes: u64,
    /// How many solves of their own are open at a time.
    pub most_open: usize,
}

/// The entries that are asked for together, each with one search: those of one game and one goal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sweep {
    /// The spec of the game.
    pub spec: String,
    /// The goal, as a text; empty for the value.
    pub goal: String,
}

/// Something that the shell has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueAction {
    /// Write a record, and say when it is durable.
    Record {
        /// Its number.
        number: u64,
        /// What must not be forgotten.
        record: Arc<QueueRecord>,
    },
    /// Ask a sweep for positions; begin it if it is not there.
    Ask {
        /// The sweep.
        sweep: Arc<Sweep>,
        /// The positions.
        positions: Vec<AskedPosition>,
    },
    /// Tell a sweep that positions are not asked for any more.
    Drop {
        /// The sweep.
        sweep: Arc<Sweep>,
        /// Their numbers.
        numbers: Vec<u64>,
    },
    /// Nothing is asked of a sweep any more.
    EndSweep(Arc<Sweep>),
    /// Open the solve of an entry's own.
    Open(u64),
    /// Stop the solve of an entry's own.
    Close(u64),
    /// An entry has ended, and that is durable.
    Ended(u64),
}

/// Why something cannot be done with an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchEntry(pub u64);

/// The entries of a queue, from the first to the last.
#[derive(Debug)]
pub struct Queue {
    settings: QueueSettings,
    entries: BTreeMap<u64, Entry>,
    /// The first number and how many, of each request.
    submissions: BTreeMap<String, (u64, u64)>,
    /// Entries that get a solve of their own and have none yet: the heaviest first.
    promoted: BTreeSet<(Reverse<u32>, u64)>,
    /// Entries whose own solve is open.
    open: BTreeSet<u64>,
    /// Entries that sweeps are asked for.
    swept: BTreeMap<Arc<Sweep>, BTreeSet<u64>>,
    /// Machines that must not come, with the names of their workers.
    put_out: BTreeMap<Identity, String>,
    /// Machines that were put out once and may come again.
    reinstated: BTreeSet<Identity>,
    /// How many entries stand where.
    counts: BTreeMap<State, u64>,
    next: u64,
    written: u64,
    durable: u64,
    /// Entries that have ended by a record that is not durable yet, by its number.
    ending: BTreeMap<u64, u64>,
    /// The same entries.
    untold: BTreeSet<u64>,
    actions: Vec<QueueAction>,
}

impl Queue {
    /// A queue without entries.
    pub fn new(settings: QueueSettings) -> Queue {
        Queue {
            settings,
            entries: BTreeMap::new(),
            submissions: BTreeMap::new(),
            promoted: BTreeSet::new(),
            open: BTreeSet::new(),
            swept: BTreeMap::new(),
            put_out: BTreeMap::new(),
            reinstated: BTreeSet::new(),
            counts: BTreeMap::new(),
            next: 1,
            written: 0,
            durable: 0,
            ending: BTreeMap::new(),
            untold: BTreeSet::new(),
            actions: Vec::new(),
        }
    }

    /// The queue that these records make, in order; `through` is the number of the last one. What was worked on is
    /// worked on again.
    pub fn resume(
        settings: QueueSettings,
        through: u64,
        records: impl IntoIterator<Item = QueueRecord>,
    ) -> Queue {
        let mut queue = Queue::new(settings);
        records.into_iter().for_each(|record| queue.apply(&record));
        (queue.written, queue.durable) = (through, through);
        queue.ending.clear();
        queue.untold.clear();
        queue.actions.clear();
        let waiting: Vec<u64> = queue
            .entries
            .iter()
            .filter(|(_, entry)| entry.state == State::Waiting)
            .map(|(&number, _)| number)
            .collect();
        queue.ask(&waiting);
        queue.open_next();
        queue
    }

    /// What is to be done since the last call, in order.
    pub fn take_actions(&mut self) -> Vec<QueueAction> {
        std::mem::take(&mut self.actions)
    }

    /// An entry.
    pub fn entry(&self, number: u64) -> Option<&Entry> {
        self.entries.get(&number)
    }

    /// All entries, in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(&number, entry)| (number, entry))
    }

    /// How many entries stand where.
    pub fn counts(&self) -> impl Iterator<Item = (State, u64)> {
        self.counts.iter().filter(|(_, count)| **count > 0).map(|(&state, &count)| (state, count))
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.counts().all(|(state, _)| state.has_ended()) && self.durable >= self.written
    }

    /// The sweeps, with how many positions each is asked for and the weight of the heaviest.
    pub fn sweeps(&self) -> impl Iterator<Item = (&Arc<Sweep>, usize, u32)> {
        self.swept.iter().map(|(sweep, numbers)| {
            let weights = numbers.iter().filter_map(|number| self.entries.get(number));
            (sweep, numbers.len(), weights.map(|entry| entry.asked.priority).max().unwrap_or(1))
        })
    }

    /// The entries whose own solves are open.
    pub fn open(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.open.iter().filter_map(|&number| Some((number, self.entries.get(&number)?)))
    }

    /// The number of the last record made.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The number of the last record that is durable.
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// Takes entries in, with numbers that follow each other; gives those, and the record that must be durable before
    /// anybody is told. What the request with this name has submitted before is not submitted again.
    pub fn submit(&mut self, submission: String, asked: Vec<Asked>, now: u64) -> (Vec<u64>, u64) {
        if let Some(&(first, count)) = self.submissions.get(&submission) {
            return ((first..first + count).collect(), self.written);
        }
        let (first, count) = (self.next, asked.len() as u64);
        let entries = (first..).zip(asked);
        let entries = entries.map(|(number, asked)| NumberedEntry { number, asked, at: now });
        let entries: Vec<NumberedEntry> = entries.collect();
        self.record(QueueRecord::Submitted { submission, entries });
        let numbers: Vec<u64> = (first..first + count).collect();
        self.ask(&numbers);
        self.open_next();
        (numbers, self.written)
    }

    /// Takes entries out that have not ended; gives how many, and the record that must be durable before anybody is
    /// told. Errors with the first number that stands for none, and nothing is taken out.
    pub fn cancel(&mut self, numbers: &[u64], now: u64) -> Result<(u32, u64), NoSuchEntry> {
        if let Some(&missing) = numbers.iter().find(|number| !self.entries.contains_key(number)) {
            return Err(NoSuchEntry(missing));
        }
        let mut cancelled = 0;
        for &number in numbers {
            if self.entries.get(&number).is_some_and(|entry| !entry.has_ended()) {
                let found = self.entries[&number].found.clone();
                self.end(number, EndKind::Cancelled, String::new(), found, now);
                cancelled += 1;
            }
        }
        self.open_next();
        Ok((cancelled, self.written))
    }

    /// A sweep tells what became of a position.
    pub fn hear(&mut self, news: Tidings, now: u64) {
        match news {
            Tidings::Answered(found) => {
                let Some(found) = self.found_of(&found) else { return };
                self.end(found.0, EndKind::Solved, String::new(), found.1, now);
            }
            Tidings::GivenUp(found) => {
                let Some((number, found)) = self.found_of(&found) else { return };
                let entry = &self.entries[&number];
                // The budget of its search was all that it may take; one that was broken off has not used it up.
                match entry.asked.most_nodes.filter(|&most| most <= found.nodes) {
                    Some(most) => {
                        let reason = entry::limit_of_nodes(most);
                        self.end(number, EndKind::Stopped, reason, found, now);
                    }
                    None => self.record(QueueRecord::Promoted { number, found, at: now }),
                }
            }
            Tidings::Withdrawn { number } => {
                if self.entries.get(&number).is_some_and(|entry| entry.state == State::Solved) {
                    self.record(QueueRecord::Reopened { number });
                    // It is searched again by itself; but its sweep is not idle any more.
                    self.ask(&[number]);
                }
            }
            Tidings::FoundOut { identity, name } => self.put_out(identity, name),
        }
        self.open_next();
    }

    /// What a sweep has found of an entry that has not ended.
    fn found_of(&self, told: &FoundOfPosition) -> Option<(u64, Found)> {
        let entry = self.entries.get(&told.number)?;
        if entry.state != State::Waiting {
            return None;
        }
        let found = Found {
            bounds: Some(told.bounds),
            best_move: told.best_move,
            nodes: told.nodes,
            jobs: told.jobs,
            search_time: told.elapsed,
            claims: Some((told.claims, told.confirmed)),
            certificate: None,
        };
        Some((told.number, found))
    }

    /// How far the own solve of an entry is, `worked` after it was opened and with what the search before it took: why it
    /// is to be stopped, if it is at a limit. That comes back as [`Queue::solve_ended`].
    pub fn note_progress(
        &mut self,
        number: u64,
        nodes: u64,
        worked: Duration,
        now: u64,
    ) -> Option<String> {
        let entry = self.entries.get_mut(&number).filter(|entry| entry.state == State::Open)?;
        let before = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
        entry.began = Some(now.saturating_sub(before));
        let nodes_used_up = entry.asked.most_nodes.filter(|&most| nodes >= most);
        // Its own time, as the clock may be set, and nothing is worked on while the coordinator is gone.
        let time_used_up = entry.asked.most_time.filter(|&most| worked >= most);
        nodes_used_up.map(entry::limit_of_nodes).or_else(|| time_used_up.map(entry::limit_of_time))
    }

    /// The own solve of an entry has ended in this way. One that was cancelled meanwhile stays so.
    pub fn solve_ended(
        &mut self,
        number: u64,
        kind: EndKind,
        reason: String,
        found: Found,
        now: u64,
    ) {
        self.open.remove(&number);
        if self.entries.get(&number).is_some_and(|entry| entry.state == State::Open) {
            self.end(number, kind, reason, found, now);
        }
        self.open_next();
    }

    /// Asks a sweep again for all that it was asked for.
    pub fn ask_again(&mut self, sweep: &Sweep) {
        self.ask(&self.asked_of(sweep));
    }

    /// The solve of an entry that has ended was not opened.
    pub fn forget_open(&mut self, number: u64) {
        self.open.remove(&number);
        self.open_next();
    }

    /// Whether an entry has ended, and that is durable.
    pub fn has_ended_for_good(&self, number: u64) -> bool {
        let is_told = !self.untold.contains(&number);
        self.entries.get(&number).is_some_and(Entry::has_ended) && is_told
    }

    /// The numbers of the entries that a sweep is asked for.
    pub fn asked_of(&self, sweep: &Sweep) -> Vec<u64> {
        self.swept.get(sweep).into_iter().flatten().copied().collect()
    }

    /// The entries that have or are to get a solve of their own, and have not ended.
    pub fn of_their_own(&self) -> impl Iterator<Item = u64> {
        self.open.iter().copied().chain(self.promoted.iter().map(|&(_, number)| number))
    }

    /// Notes what the own solve of an entry has found so far, for those who ask.
    pub fn note_found(&mut self, number: u64, found: Found) {
        if let Some(entry) =
            self.entries.get_mut(&number).filter(|entry| entry.state == State::Open)
        {
            entry.found = found;
        }
    }

    /// A machine was found out or put out by hand: none of it comes back.
    pub fn put_out(&mut self, identity: Identity, name: String) {
        if !self.put_out.contains_key(&identity) {
            self.record(QueueRecord::PutOut { identity, name });
        }
    }

    /// Lets the machines come again whose workers had this name; how many there were.
    pub fn reinstate(&mut self, name: &str) -> usize {
        let of_name = self.put_out.iter().filter(|(_, of)| *of == name);
        let machines: Vec<Identity> = of_name.map(|(identity, _)| identity.clone()).collect();
        for identity in &machines {
            self.record(QueueRecord::Reinstated { identity: identity.clone() });
        }
        machines.len()
    }

    /// Whether a machine must not come.
    pub fn is_put_out(&self, identity: &Identity) -> bool {
        self.put_out.contains_key(identity)
    }

    /// The machines that were ever put out, and whether they still are.
    pub fn judged(&self) -> impl Iterator<Item = (&Identity, bool)> {
        let out = self.put_out.keys().map(|identity| (identity, true));
        out.chain(self.reinstated.iter().map(|identity| (identity, false)))
    }

    /// The names of the workers of machines that must not come.
    pub fn names_put_out(&self) -> impl Iterator<Item = &str> {
        self.put_out.values().map(String::as_str)
    }

    /// The records up to this number are durable: what they say may be told.
    pub fn note_durable(&mut self, through: u64) {
        self.durable = self.durable.max(through);
        while let Some(first) = self.ending.first_entry().filter(|first| *first.key() <= through) {
            let number = first.remove();
            self.untold.remove(&number);
            self.actions.push(QueueAction::Ended(number));
        }
    }
}

#[cfg(test)]
mod tests;
