//! What a queue must not forget.

use jlpns_solve::belief::Identity;

use crate::entry::{Asked, End, Found};

/// An entry with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEntry {
    /// Its number.
    pub number: u64,
    /// What is asked for.
    pub asked: Asked,
    /// When it was submitted, in milliseconds since 1970.
    pub at: u64,
}

/// Something that must not be forgotten. The records of a queue are numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueRecord {
    /// Entries were submitted.
    Submitted {
        /// The name of the request, by which it is known when it comes again.
        submission: String,
        /// The entries, whose numbers follow each other.
        entries: Vec<NumberedEntry>,
    },
    /// One search has not answered an entry: it gets a solve of its own.
    Promoted {
        /// Its number.
        number: u64,
        /// What that search has found.
        found: Found,
        /// When, in milliseconds since 1970.
        at: u64,
    },
    /// An entry has ended.
    Ended {
        /// Its number.
        number: u64,
        /// How.
        end: End,
        /// With what.
        found: Found,
        /// When it was begun.
        began: Option<u64>,
    },
    /// The answer of an entry rested on the word of a machine that is not believed any more.
    Reopened {
        /// Its number.
        number: u64,
    },
    /// A machine must not come.
    PutOut {
        /// What it shows of itself.
        identity: Identity,
        /// The name of its worker.
        name: String,
    },
    /// A machine may come again.
    Reinstated {
        /// What it shows of itself.
        identity: Identity,
    },
}
