//! What a solve remembers: the records of its journal, and the snapshots that stand for many of
//! them. A solve that takes up a snapshot and the records after it is where it was.

use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Findings, Question};

use super::belief::{Claims, Identity, Machine, MachineId, ThresholdAt};
use super::ids::{LeaseId, ProofId};

/// Something that must not be forgotten. The records of a solve are numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A report that was accepted.
    Report(Report),
    /// A frontier node was expanded without a report, because its job killed its workers.
    Split {
        /// The moves to the node, from the start of the game.
        moves: Vec<Move>,
    },
    /// A machine has come for the first time. Machines are numbered in this order, from 1.
    Machine {
        /// What it shows of itself.
        identity: Identity,
        /// The name of its worker.
        name: String,
    },
    /// What the leases of this solve are sealed with; made once, when the solve begins.
    Secret(u128),
    /// A machine was put out by hand.
    PutOut {
        /// Its number.
        machine: MachineId,
    },
    /// A machine that was put out may come again.
    Reinstated {
        /// Its number.
        machine: MachineId,
    },
    /// A claim was taken back because it is too large to be searched again at once; its position is
    /// expanded instead.
    TakenBack {
        /// What was claimed.
        at: ThresholdAt,
        /// The moves to the position, from the start of the game.
        moves: Vec<Move>,
    },
}

/// A report that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The machine of the worker; the coordinator for what it searched itself.
    pub machine: MachineId,
    /// The lease that it ended.
    pub lease: LeaseId,
    /// The moves to the node of the job, from the start of the game.
    pub moves: Vec<Move>,
    /// What was asked.
    pub question: Question,
    /// What was found.
    pub findings: Findings,
    /// Whether the search used what others had told.
    pub hearsay: bool,
    /// The time that the sub-search took.
    pub elapsed: Duration,
    /// How old the solve was, over all its lives.
    pub at: Duration,
    /// The certificate that shows it, if one does.
    pub proof: Option<ProofId>,
}

/// A solve at one moment.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Snapshot {
    /// The number of the last record that it stands for.
    pub through: u64,
    /// What leases are sealed with.
    pub secret: u128,
    /// Jobs reported.
    pub jobs: u64,
    /// Nodes that sub-searches created.
    pub nodes: u64,
    /// Reports refused.
    pub refused: u64,
    /// Time spent in sub-searches, over all slots.
    pub search_time: Duration,
    /// How old the solve is, over all its lives.
    pub time: Duration,
    /// How many reports found no room in the tree.
    pub without_room: u64,
    /// The best move of the last report about the root.
    pub reported_most_proving: Option<Move>,
    /// Whether sharing has ended.
    pub has_ended_sharing: bool,
    /// The machines, in the order of their numbers, without the coordinator.
    pub machines: Vec<Machine>,
    /// What they have claimed.
    pub claims: Claims,
    /// The leases that have ended, as ranges, the last of each included: their reports are not
    /// counted twice.
    pub ended: Vec<(u64, u64)>,
    /// The top-level tree, as [`Graph::dump`](jlpns_search::graph::Graph::dump) writes it.
    pub tree: Vec<u8>,
}
