//! A virtual worker: slots, the leases that wait for them, the searches on them, and what is not
//! acknowledged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Add;
use std::rc::Rc;
use std::time::Duration;

use jlpns_search::Findings;
use jlpns_solve::belief::Identity;
use jlpns_solve::{LeaseId, WorkerId, WorkerInfo};

use super::waits::FreeSlots;
use super::{Lease, Report};
use crate::draws::Pace;
use crate::search::{Part, Search};

/// A worker's process, from one crash to the next, and what outlives it.
pub struct Worker {
    /// Its name.
    pub name: String,
    /// The machine that it runs on; others may run there too.
    pub machine: String,
    /// The address that it comes from.
    pub address: String,
    /// How many searches it runs at a time.
    pub slots: u32,
    /// The bytes that it has for its table and its searches.
    pub memory: u64,
    /// Counts its processes, from 1.
    pub life: u64,
    /// Whether the present process runs.
    pub(super) alive: bool,
    /// Whether the coordinator will not have it any more.
    pub(super) refused: bool,
    /// Whether it has been told that the solve is over.
    pub(super) done: bool,
    pub(super) connection: Option<WorkerId>,
    /// Whether it knows that the coordinator has accepted its connection.
    pub(super) welcomed: bool,
    /// When the last message of each direction of its stream arrives: the next one arrives no
    /// earlier, where nothing fails.
    pub(super) last_arrivals: [Duration; 2],
    pub(super) waiting: VecDeque<Lease>,
    pub(super) running: BTreeMap<LeaseId, Running>,
    pub(super) free_slots: FreeSlots,
    /// When it next tells at the latest what its searches have solved while they go on.
    pub(super) tells_by: Duration,
    pub(super) unacknowledged: BTreeMap<LeaseId, Rc<Report>>,
    /// Leases that it has heard of: none comes twice to one process.
    pub(super) seen: BTreeSet<LeaseId>,
}

/// A search on a slot. It has really been run up to the end of its present part.
pub(super) struct Running {
    pub lease: Lease,
    pub search: Box<dyn Search>,
    began: Duration,
    pace: Pace,
    /// Whether it never ends, and does not hear.
    pub stuck: bool,
    /// The nodes up to the end of the present part.
    nodes: u64,
    /// What is told at the end of the present part, if anything is.
    pub partial: Option<Findings>,
    /// What it found, if the present part is its last.
    pub findings: Option<Findings>,
}

/// What slots were used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// The virtual time of searches.
    pub time: Duration,
    /// The nodes that the searches created in that time.
    pub nodes: u64,
}

impl Add for Used {
    type Output = Used;

    fn add(self, other: Used) -> Used {
        Used { time: self.time + other.time, nodes: self.nodes + other.nodes }
    }
}

impl Running {
    pub fn new(
        lease: Lease,
        search: Box<dyn Search>,
        began: Duration,
        pace: Pace,
        stuck: bool,
    ) -> Running {
        let (nodes, partial, findings) = (0, None, None);
        Running { lease, search, began, pace, stuck, nodes, partial, findings }
    }

    /// Really runs the next part. Returns when it will have ended unless it is stopped, and the nodes
    /// that it has created. The error says why the job cannot be done at all.
    pub fn advance(&mut self) -> Result<(Duration, u64), String> {
        let before = self.nodes;
        match self.search.advance() {
            Part::Paused(nodes, partial) => (self.nodes, self.partial) = (nodes, partial),
            Part::Ended(end) => {
                let findings = end?;
                self.nodes = findings.nodes;
                self.findings = Some(findings);
            }
        }
        let ends = self.began.saturating_add(self.pace.time(self.nodes));
        Ok((ends, self.nodes.saturating_sub(before)))
    }

    /// What the search has used by `now`.
    pub fn used(&self, now: Duration) -> Used {
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

impl Worker {
    /// A worker on a machine of its own, with nothing to do.
    pub fn new(name: String, slots: u32, memory: u64) -> Worker {
        Worker {
            machine: name.clone(),
            address: format!("address of {name}"),
            name,
            slots,
            memory,
            life: 1,
            alive: true,
            refused: false,
            done: false,
            connection: None,
            welcomed: false,
            last_arrivals: [Duration::ZERO; 2],
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            free_slots: FreeSlots::all(slots),
            tells_by: Duration::ZERO,
            unacknowledged: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Whether a search runs on it.
    pub fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// What it says of itself.
    pub(super) fn info(&self, instance: u64) -> WorkerInfo {
        let Worker { name, machine, address, slots, memory, .. } = self;
        let (machine, address) = (machine.clone(), address.clone());
        let identity = Identity { certificate: None, machine, address };
        let (name, build) = (name.clone(), String::new());
        WorkerInfo { name, identity, build, slots: *slots, memory: *memory, instance }
    }

    /// What the searches that are running have used by `now`.
    pub(super) fn in_use(&self, now: Duration) -> Used {
        self.running.values().fold(Used::default(), |sum, running| sum + running.used(now))
    }

    /// The process is killed: all that it held is gone.
    pub(super) fn die(&mut self, now: Duration) {
        self.alive = false;
        self.life += 1;
        self.waiting.clear();
        self.running.clear();
        self.free_slots.free_all(self.slots, now);
        self.unacknowledged.clear();
        self.seen.clear();
    }
}
