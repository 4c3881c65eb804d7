//! A virtual worker: slots, the leases that wait for them, and the searches on them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jlpns_search::searcher::Searcher;
use jlpns_search::{Findings, Job, SolvedPosition};
use jlpns_solve::LeaseId;

use super::delays::{Delays, Pace};
use super::search::{Part, PausedSearch};

/// A worker with its own transposition table.
pub struct VirtualWorker {
    searcher: Arc<dyn Searcher>,
    slots: usize,
    waiting: VecDeque<(LeaseId, Job)>,
    running: BTreeMap<LeaseId, Running>,
}

/// A search on a slot. It has really been run up to the end of its present part.
struct Running {
    search: PausedSearch,
    began: Duration,
    pace: Pace,
    /// The nodes up to the end of the present part.
    nodes: u64,
    /// What it found, if the present part is its last.
    findings: Option<Findings>,
}

/// A part of a search that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The lease of its job.
    pub lease: LeaseId,
    /// When the part will have ended, unless it is stopped.
    pub ends: Duration,
    /// The nodes that it has really created.
    pub nodes: u64,
}

/// What comes after a part of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The next part, which has begun.
    Part(Begun),
    /// Nothing: what the search found, what it solved with much work, and what it used.
    End(Findings, Vec<SolvedPosition>, Used),
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
    /// Really runs the next part. The error says why the job cannot be done at all.
    fn advance(&mut self, lease: LeaseId) -> Result<Begun, String> {
        let before = self.nodes;
        match self.search.advance() {
            Part::Paused(nodes) => self.nodes = nodes,
            Part::Ended(end) => {
                let findings = end?;
                self.nodes = findings.nodes;
                self.findings = Some(findings);
            }
        }
        let ends = self.began.saturating_add(self.pace.time(self.nodes));
        Ok(Begun { lease, ends, nodes: self.nodes.saturating_sub(before) })
    }

    /// What the search has used by `now`.
    fn used(&self, now: Duration) -> Used {
        let takes = self.pace.time(self.nodes);
        let time = now.saturating_sub(self.began).min(takes);
        let nodes = if time == takes {
            self.nodes
        } else {
            (self.nodes as f64 * time.div_duration_f64(takes)) as u64
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

    /// Begins the next search, if one waits and a slot is free. The error says why the job cannot
    /// be done at all.
    pub fn begin(&mut self, now: Duration, delays: &mut Delays) -> Result<Option<Begun>, String> {
        if self.running.len() >= self.slots {
            return Ok(None);
        }
        let Some((lease, job)) = self.waiting.pop_front() else { return Ok(None) };
        let search = PausedSearch::new(self.searcher.clone(), job)?;
        let pace = delays.pace();
        let mut running = Running { search, began: now, pace, nodes: 0, findings: None };
        let begun = running.advance(lease)?;
        self.running.insert(lease, running);
        Ok(Some(begun))
    }

    /// Goes on after a part of a search that has come to its end; `None` if the search was stopped
    /// before. The error says why the job cannot be done at all.
    pub fn go_on(&mut self, lease: LeaseId) -> Result<Option<Next>, String> {
        let Some(running) = self.running.get_mut(&lease) else { return Ok(None) };
        let Some(findings) = running.findings.take() else {
            return running.advance(lease).map(|begun| Some(Next::Part(begun)));
        };
        let used = Used { time: running.pace.time(running.nodes), nodes: running.nodes };
        self.running.remove(&lease);
        Ok(Some(Next::End(findings, self.searcher.take_solved(), used)))
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
