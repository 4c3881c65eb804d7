//! Poison jobs: jobs that kill whoever takes them, told from workers that are lost by themselves.
//!
//! A job whose lease is lost goes out again, to another worker if there is one and with a smaller
//! budget. Lost [`TOO_OFTEN`] times in a row it is not leased any more: its node is expanded
//! instead, and its children go out as smaller jobs. A child that is lost as often is parked: it
//! goes out again only when there is nothing else to do, after a pause that doubles each time.
//! A report about the node, or the return of a worker that had only lost touch, clears it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use foldhash::fast::FixedState;
use jlpns_games::Move;
use jlpns_search::graph::NodeId;

use super::top_level::NodeRef;

/// How many losses in a row make a poison job.
pub const TOO_OFTEN: u32 = 3;
/// Each loss divides the budget by this, as a power of two.
const SMALLER: u32 = 3;
/// How long a parked job stays parked, the first time.
const PARKED_FOR: Duration = Duration::from_secs(30);
/// How many departed workers may still come back.
const DEPARTED: usize = 256;

/// What is known of the losses of one node.
#[derive(Clone, Debug, Default)]
struct Loss {
    /// Leases lost in a row.
    count: u32,
    /// The name of the worker that lost the last one.
    last: String,
    /// Whether the node came from splitting a poison job.
    of_split: bool,
    /// How often it has been parked.
    parked: u32,
}

/// A job that is not given out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Its node.
    pub node: NodeRef,
    /// The moves to it.
    pub moves: Vec<Move>,
    /// How often its lease was lost.
    pub losses: u32,
    /// When it may go out again.
    pub until: Duration,
}

/// What to do with a job whose lease is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Give it out again.
    Retry,
    /// Expand its node instead.
    Split,
    /// Keep it back for a while.
    Park,
}

/// The losses of all nodes.
#[derive(Debug, Default)]
pub struct Losses {
    nodes: HashMap<u128, Loss, FixedState>,
    parked: BTreeMap<NodeId, Parked>,
    departed: VecDeque<(String, u64, Vec<u128>)>,
}

impl Losses {
    /// Notes that `worker` has lost the lease of a node.
    pub fn note(&mut self, node: NodeRef, worker: &str) -> Verdict {
        let loss = self.nodes.entry(node.key).or_default();
        loss.count += 1;
        worker.clone_into(&mut loss.last);
        match (loss.count, loss.of_split) {
            (..TOO_OFTEN, _) => Verdict::Retry,
            (_, false) => Verdict::Split,
            (_, true) => Verdict::Park,
        }
    }

    /// Notes that a report about the node has come.
    pub fn clear(&mut self, node: NodeRef) {
        if !self.nodes.is_empty() {
            self.nodes.remove(&node.key);
        }
    }

    /// Remembers which nodes a worker took with it, in case that it comes back.
    pub fn depart(&mut self, name: String, instance: u64, nodes: Vec<u128>) {
        if instance == 0 || nodes.is_empty() {
            return;
        }
        self.departed.push_back((name, instance, nodes));
        if self.departed.len() > DEPARTED {
            self.departed.pop_front();
        }
    }

    /// A worker process that was thought lost is there again: its jobs did not kill it.
    pub fn forgive(&mut self, name: &str, instance: u64) {
        let back = |(n, i, _): &(String, u64, Vec<u128>)| n == name && *i == instance;
        let Some(index) = self.departed.iter().position(back) else { return };
        for key in self.departed.remove(index).map_or(Vec::new(), |(_, _, nodes)| nodes) {
            if let Some(loss) = self.nodes.get_mut(&key) {
                loss.count = loss.count.saturating_sub(1);
            }
        }
    }

    /// Marks the children of a node that was split.
    pub fn mark_split(&mut self, node: NodeRef, children: impl IntoIterator<Item = u128>) {
        self.nodes.remove(&node.key);
        for key in children {
            self.nodes.entry(key).or_default().of_split = true;
        }
    }

    /// Parks a job.
    pub fn park(&mut self, node: NodeRef, moves: Vec<Move>, now: Duration) {
        let loss = self.nodes.entry(node.key).or_default();
        let until = now + PARKED_FOR * (1 << loss.parked.min(10));
        loss.parked += 1;
        self.parked.insert(node.id, Parked { node, moves, losses: loss.count, until });
    }

    /// Takes the parked job of a node out, if it has one.
    pub fn unpark(&mut self, node: NodeRef) -> Option<Parked> {
        self.parked.remove(&node.id)
    }

    /// A parked job whose time has come.
    pub fn due(&self, now: Duration) -> Option<&Parked> {
        self.parked.values().find(|parked| parked.until <= now)
    }

    /// When the next parked job is due.
    pub fn next_due(&self) -> Option<Duration> {
        self.parked.values().map(|parked| parked.until).min()
    }

    /// The parked jobs.
    pub fn parked(&self) -> impl Iterator<Item = &Parked> {
        self.parked.values()
    }

    /// Forgets everything: the nodes are gone.
    pub fn forget(&mut self) {
        *self = Losses::default();
    }

    /// The worker that lost the node's last lease: another one should get the next.
    pub fn last_loser(&self, node: NodeRef) -> Option<&str> {
        let loss = self.nodes.get(&node.key)?;
        (loss.count > 0).then_some(&loss.last)
    }

    /// Whether the next loss makes the node's job a poison job.
    pub fn may_kill(&self, node: NodeRef) -> bool {
        self.nodes.get(&node.key).is_some_and(|loss| loss.count + 1 >= TOO_OFTEN)
    }

    /// By how many powers of two the node's budget is cut.
    pub fn cut(&self, node: NodeRef) -> u32 {
        self.nodes.get(&node.key).map_or(0, |loss| (loss.count * SMALLER).min(32))
    }
}
