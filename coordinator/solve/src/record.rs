//! What a solve remembers: the records of its journal, and the snapshots that stand for many of
//! them. A solve that takes up a snapshot and the records after it is where it was.

use std::time::Duration;

use jlpns_games::Move;
use jlpns_search::{Findings, Question};

use super::event::LeaseId;
use super::trust::{Claim, Standing};

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
    /// Another worker has found the same as a worker's report.
    Confirmed {
        /// The worker whose report is confirmed.
        worker: String,
        /// The number of that report.
        through: u64,
    },
    /// A worker was found out to report what is not true.
    Quarantined {
        /// The worker.
        worker: String,
        /// Its reports with higher numbers do not count.
        after: u64,
    },
}

/// A report that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The name of the worker.
    pub worker: String,
    /// The lease that it ended.
    pub lease: LeaseId,
    /// The moves to the node of the job, from the start of the game.
    pub moves: Vec<Move>,
    /// What was asked.
    pub question: Question,
    /// What was found.
    pub findings: Findings,
    /// The time that the sub-search took.
    pub elapsed: Duration,
}

/// A solve at one moment.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Snapshot {
    /// The number of the last record that it stands for.
    pub through: u64,
    /// Jobs reported.
    pub jobs: u64,
    /// Nodes that sub-searches created.
    pub nodes: u64,
    /// Reports refused.
    pub refused: u64,
    /// Time spent in sub-searches, over all slots.
    pub search_time: Duration,
    /// How many reports found no room in the tree.
    pub without_room: u64,
    /// The best move of the last report about the root.
    pub reported_best: Option<Move>,
    /// What is held of each worker, by its name.
    pub standings: Vec<(String, Standing)>,
    /// Claims that wait to be searched again.
    pub claims: Vec<Claim>,
    /// The leases that have ended, as ranges, the last of each included: their reports are not
    /// counted twice.
    pub ended: Vec<(u64, u64)>,
    /// The top-level tree, as [`Graph::dump`](jlpns_search::graph::Graph::dump) writes it.
    pub tree: Vec<u8>,
}
