//! A virtual worker: slots, the leases that wait for them, and the searches on them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jlpns_common::{Findings, Job, SolvedPosition};
use jlpns_worker::search::Observer;
use jlpns_worker::slots::Searcher;

use super::delays::Delays;
use crate::solve::LeaseId;

/// A worker with its own transposition table.
pub struct VirtualWorker {
    searcher: Arc<dyn Searcher>,
    slots: usize,
    waiting: VecDeque<(LeaseId, Job)>,
    running: BTreeMap<LeaseId, Running>,
}

/// A search on a slot. It has really been run already, to its end.
struct Running {
    began: Duration,
    takes: Duration,
    findings: Findings,
    solved: Vec<SolvedPosition>,
}

/// A search that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The lease of its job.
    pub lease: LeaseId,
    /// When it will have ended, unless it is stopped.
    pub ends: Duration,
    /// The nodes that it has really created.
    pub nodes: u64,
}

/// What slots were used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The virtual time of searches.
    pub time: Duration,
    /// The nodes that the searches created in that time.
    pub nodes: u64,
}

impl std::ops::AddAssign for Used {
    fn add_assign(&mut self, other: Used) {
        self.time += other.time;
        self.nodes += other.nodes;
    }
}

impl Running {
    /// What the search has used by `now`.
    fn used(&self, now: Duration) -> Used {
        let time = now.saturating_sub(self.began).min(self.takes);
        let nodes = if time == self.takes {
            self.findings.nodes
        } else {
            (self.findings.nodes as f64 * time.div_duration_f64(self.takes)) as u64
        };
        Used { time, nodes }
    }
}

impl VirtualWorker {
    /// A worker with nothing to do.
    pub fn new(searcher: Arc<dyn Searcher>, slots: u32) -> VirtualWorker {
        VirtualWorker {
            searcher,
            slots: slots as usize,
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
        }
    }

    /// Puts a lease at the end of the queue.
    pub fn put(&mut self, lease: LeaseId, job: Job) {
        self.waiting.push_back((lease, job));
    }

    /// Begins the next search, if one waits and a slot is free, and really runs it. The error
    /// says why the job cannot be done at all.
    pub fn begin(
        &mut self,
        now: Duration,
        delays: &mut Delays,
        observer: &mut dyn Observer,
    ) -> Result<Option<Begun>, String> {
        if self.running.len() >= self.slots {
            return Ok(None);
        }
        let Some((lease, job)) = self.waiting.pop_front() else { return Ok(None) };
        let findings = self.searcher.search(&job, observer)?;
        let solved = self.searcher.take_solved();
        let nodes = findings.nodes;
        let takes = delays.search(nodes);
        self.running.insert(lease, Running { began: now, takes, findings, solved });
        Ok(Some(Begun { lease, ends: now.saturating_add(takes), nodes }))
    }

    /// Ends a search that has come to its end; `None` if it was stopped before. Returns what it
    /// found, what it solved with much work, and what it used.
    pub fn end(&mut self, lease: LeaseId) -> Option<(Findings, Vec<SolvedPosition>, Used)> {
        let Running { takes, findings, solved, .. } = self.running.remove(&lease)?;
        let used = Used { time: takes, nodes: findings.nodes };
        Some((findings, solved, used))
    }

    /// Takes in what others have solved.
    pub fn learn(&self, solved: &[SolvedPosition]) {
        self.searcher.learn(solved);
    }

    /// Stops a search, or takes its lease out of the queue; returns what it used.
    pub fn stop(&mut self, lease: LeaseId, now: Duration) -> Used {
        self.waiting.retain(|(waiting, _)| *waiting != lease);
        self.running.remove(&lease).map_or(Used::default(), |running| running.used(now))
    }

    /// What the searches that are still running have used by `now`.
    pub fn in_use(&self, now: Duration) -> Used {
        let mut used = Used::default();
        self.running.values().for_each(|running| used += running.used(now));
        used
    }
}
