//! What a solve has cost so far.

use std::time::Duration;

use jlpns_games::Move;

use crate::{Refusal, Snapshot};

/// Counts of what has come in.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Jobs reported.
    pub jobs: u64,
    /// Nodes that sub-searches created.
    pub nodes: u64,
    /// Time spent in sub-searches, over all slots.
    pub search_time: Duration,
    /// How many of `jobs` and `nodes` and how much of `search_time` are of earlier lives of the solve.
    pub earlier_jobs: u64,
    pub earlier_nodes: u64,
    pub earlier_search_time: Duration,
    /// How old the solve was at the last report, over all its lives.
    pub time: Duration,
    /// How old it was when this life began.
    pub earlier_time: Duration,
    /// Reports refused.
    pub refused: u64,
    /// Reports that came again.
    pub duplicates: u64,
    /// How many reports found no room in the tree for the children of their node.
    pub without_room: u64,
    /// The best move of the last report about the root: all there is if one job settles it.
    pub reported_most_proving: Option<Move>,
    /// Slot time of the workers that have left, in seconds.
    pub past_slot_time: f64,
}

impl Tally {
    /// What a snapshot stands for.
    pub fn of(snapshot: &Snapshot) -> Tally {
        Tally {
            jobs: snapshot.jobs,
            nodes: snapshot.nodes,
            search_time: snapshot.search_time,
            time: snapshot.time,
            refused: snapshot.refused,
            without_room: snapshot.without_room,
            reported_most_proving: snapshot.reported_most_proving,
            ..Tally::default()
        }
    }

    /// What was counted so far is of earlier lives.
    pub fn begin_a_life(&mut self) {
        (self.earlier_jobs, self.earlier_nodes) = (self.jobs, self.nodes);
        self.earlier_search_time = self.search_time;
        // Journals of before times were kept have only those of searches.
        self.earlier_time = if self.time.is_zero() { self.search_time } else { self.time };
    }

    /// Counts a job that was reported.
    pub fn note_work(&mut self, nodes: u64, elapsed: Duration) {
        self.jobs += 1;
        self.nodes = self.nodes.saturating_add(nodes);
        self.search_time += elapsed;
    }

    /// Counts what was refused.
    pub fn note_refusal(&mut self, refusal: &Refusal) {
        match refusal {
            Refusal::Duplicate(_) => self.duplicates += 1,
            _ => self.refused += 1,
        }
    }

    /// How long a search of a job takes on average; no time before the first report.
    pub fn mean_search(&self) -> Duration {
        self.search_time.div_f64(self.jobs.max(1) as f64)
    }
}
