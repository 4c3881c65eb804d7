//! What people should be told of a solve as it happens, in sentences.

use std::fmt;

/// Something that whoever watches the solve should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A search gets no further: its lease is taken back.
    Stalled {
        /// The worker.
        worker: String,
        /// The moves to the position, by their names.
        moves: String,
    },
    /// A job was lost so often that its node was expanded instead.
    Split {
        /// The moves to the position, by their names.
        moves: String,
        /// How often.
        losses: u32,
    },
    /// A job was lost so often that it waits until there is nothing else to do.
    Parked {
        /// The moves to the position, by their names.
        moves: String,
        /// How often.
        losses: u32,
    },
    /// Two workers contradict each other.
    Disputed {
        /// Who claimed something.
        worker: String,
        /// Who found the contrary.
        against: String,
        /// The moves to the position, by their names.
        moves: String,
    },
    /// A worker was found out.
    Quarantined {
        /// The worker.
        worker: String,
        /// Whether others' results contradict it, or its reports were refused too often.
        contradicted: bool,
    },
    /// What was built on a liar's reports was taken down.
    Rebuilt {
        /// How many reports still count.
        jobs: u64,
    },
    /// The solve has ended, and nobody was there to search again what was to be.
    Unconfirmed {
        /// How many claims.
        claims: u64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Stalled { worker, moves } => write!(
                f,
                "the search of worker '{worker}' at '{moves}' gets no further; the job goes out \
                 again, and that slot gets no other"
            ),
            Notice::Split { moves, losses } => write!(
                f,
                "the job at '{moves}' was lost {losses} times; its position is expanded, and its \
                 children go out as smaller jobs"
            ),
            Notice::Parked { moves, losses } => write!(
                f,
                "the job at '{moves}' was lost {losses} times; it is parked until there is nothing \
                 else to do"
            ),
            Notice::Disputed { worker, against, moves } => write!(
                f,
                "workers '{worker}' and '{against}' contradict each other at '{moves}'; a third \
                 worker decides"
            ),
            Notice::Quarantined { worker, contradicted: true } => write!(
                f,
                "worker '{worker}' reported what two others contradict; it is quarantined, and its \
                 reports since the last confirmed one do not count"
            ),
            Notice::Quarantined { worker, contradicted: false } => {
                write!(f, "too many reports of worker '{worker}' were refused; it is quarantined")
            }
            Notice::Rebuilt { jobs } => {
                write!(f, "the tree was built anew from the {jobs} reports that count")
            }
            Notice::Unconfirmed { claims } => write!(
                f,
                "{claims} claims of workers that have yet to be proven were searched by nobody \
                 else: no other worker was there any more"
            ),
        }
    }
}
