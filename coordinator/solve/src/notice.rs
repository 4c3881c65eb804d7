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
    /// Machines contradict each other, and nobody has decided yet.
    Undecided {
        /// How many claims.
        disputes: u64,
    },
    /// A machine was found out, or put out by hand.
    Quarantined {
        /// The name of its worker.
        worker: String,
    },
    /// Too many reports of a worker were refused.
    CutOff {
        /// The worker.
        worker: String,
    },
    /// The tree was grown anew without what does not count any more.
    Regrown {
        /// How many claims still count.
        claims: u64,
    },
    /// Sharing has ended, because what was shared contradicts something, or somebody was found out.
    SharingEnded,
    /// The answer is there, and only the coordinator can confirm what it rests on.
    Alone {
        /// How many claims only one machine stands behind.
        claims: u64,
    },
    /// The solve has ended with an answer that rests on claims of one machine each.
    Unconfirmed {
        /// How many of the claims that it rests on.
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
            Notice::Undecided { disputes } => write!(
                f,
                "machines contradict each other about {disputes} claims that nobody has decided yet"
            ),
            Notice::Quarantined { worker } => write!(
                f,
                "the machine of worker '{worker}' is quarantined: what only it has claimed does not \
                 count any more"
            ),
            Notice::CutOff { worker } => {
                write!(f, "too many reports of worker '{worker}' were refused; it is cut off")
            }
            Notice::Regrown { claims } => {
                write!(f, "the tree was grown anew from the {claims} claims that count")
            }
            Notice::SharingEnded => f.write_str(
                "what workers have told each other may not be true: nothing is shared any more, and their \
                 tables are emptied",
            ),
            Notice::Alone { claims } => write!(
                f,
                "no second machine is at work that could confirm the answer (all workers of one \
                 machine count as one), so the coordinator itself searches {claims} claims again \
                 that it rests on; --confirm none leaves that out"
            ),
            Notice::Unconfirmed { claims } => {
                write!(f, "the answer rests on {claims} claims that only one machine has made")
            }
        }
    }
}
