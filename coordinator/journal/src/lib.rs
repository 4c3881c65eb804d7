//! The journal of a solve: every record that was appended is on disk before anyone hears of
//! it, and comes back whole when the journal is opened again.
//!
//! The journal knows nothing of solves: records and snapshots are bytes to it. A record is numbered,
//! from 1; a snapshot covers the records up to a number, so that those need not be read again.
//!
//! - [`Journal`] (`journal.rs`) appends, takes snapshots and compacts; `opening.rs` opens it, and
//!   `repair.rs` mends what was found damaged, as soon as there is room.
//! - [`Writer`] is a thread that owns a journal and commits in groups.
//! - `frame.rs`, `segment.rs`, `snapshot.rs`, `identity.rs`: what the files hold.
//! - `generation.rs` says which opening of a journal may write to it: the newest.
//! - `directory.rs` names them, and replaces and moves them safely.
//! - `salvage.rs` and `retention.rs` decide, without touching a file, what of a damaged journal is
//!   used, and what a whole one no longer needs.
//! - `fault_injection.rs` lets tests fill and break the disk.
//!
//! docs/journal.md says what is promised and how the files are laid out.

mod directory;
mod error;
mod fault_injection;
mod frame;
mod generation;
mod identity;
mod journal;
mod opening;
mod repair;
mod retention;
mod salvage;
mod segment;
mod snapshot;
mod writer;

pub use error::JournalError;
pub use fault_injection::{FaultInjector, WriteStep};
pub use identity::FORMAT;
pub use journal::Journal;
pub use writer::{WriteRequest, Writer, WriterEvent};

/// One record. Numbers are consecutive, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place in the journal.
    pub number: u64,
    /// What it says; at most 1 GiB.
    pub bytes: Vec<u8>,
}

/// What a journal is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name of the solve. It is not compared when a journal is opened again: the stored one is
    /// used.
    pub solve_id: String,
    /// What must be the same when the journal is opened again, in order: names and values, such as
    /// `("game", "connect4:6x5")`.
    pub facts: Vec<(String, String)>,
}

/// A snapshot that was read back and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the last record it covers; 0 if none.
    pub through: u64,
    /// Whether it was written as settled; compaction keeps what the last two settled ones need.
    pub settled: bool,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// A journal that was opened, and what it held.
#[derive(Debug)]
pub struct Opened {
    /// The journal, ready to append after the last of `records`.
    pub journal: Journal,
    /// The stored header; the one given if the journal is new.
    pub header: Header,
    /// Whether the journal was there before.
    pub resumed: bool,
    /// The snapshots kept, newest first. The records after each of them are all in `records`.
    pub snapshots: Vec<Snapshot>,
    /// The records kept, in order and without a gap.
    pub records: Vec<Record>,
    /// What was found damaged, what was recovered and what is lost: sentences for people.
    pub repairs: Vec<String>,
}
