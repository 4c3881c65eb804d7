//! One solve that a worker takes part in: its leases, and its reports until they are acknowledged.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jlpns_proto::convert::{WireError, in_range};
use jlpns_proto::{MAX_REASON, v1};
use jlpns_search::Job;
use tracing::debug;

use super::declines::DeclineReasons;
use crate::games_at_hand::GamesAtHand;
use crate::slots::{SlotEventKind, Task};

/// What a worker has of one solve.
pub struct JoinedSolve {
    /// The coordinator's name for it.
    pub id: String,
    /// The standard text of its game's spec; or why leases of it are declined, in one sentence.
    pub game: Result<String, String>,
    /// Its number on the present stream; `None` if it has not begun there.
    pub number: Option<u64>,
    /// Counts the solves that this worker has seen: numbers and leases come again, this does not.
    generation: u64,
    /// The leases in the slots or before them.
    held: BTreeMap<u64, HeldLease>,
    /// Final reports that the coordinator has not acknowledged.
    unacknowledged: BTreeMap<u64, FinalReport>,
}

/// A lease in a slot or before one.
struct HeldLease {
    /// When set, its search stops.
    stop: Arc<AtomicBool>,
    /// What it is for, to be told with its report.
    subject: v1::Subject,
}

/// What a slot has found, until the coordinator has it.
#[derive(Clone)]
pub struct FinalReport {
    /// The report.
    pub report: v1::Report,
    /// The certificate that belongs to it.
    pub certificate: Option<Arc<[u8]>>,
}

/// What a slot said, in the words of the contract.
pub enum BatchEntry {
    Progress(v1::Progress),
    Report(v1::Report),
    /// A report with a certificate, which needs messages of its own.
    Proved(FinalReport),
    Decline(v1::Decline),
}

impl JoinedSolve {
    /// A solve that begins under a number of the present stream.
    pub fn new(
        id: String,
        game: Result<String, String>,
        generation: u64,
        number: u64,
    ) -> JoinedSolve {
        let (held, unacknowledged) = (BTreeMap::new(), BTreeMap::new());
        JoinedSolve { id, game, number: Some(number), generation, held, unacknowledged }
    }

    /// Whether it has neither leases nor reports.
    pub fn has_nothing_to_tell(&self) -> bool {
        self.held.is_empty() && self.unacknowledged.is_empty()
    }

    /// How many leases are in the slots or before them.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// How many leases the coordinator has no report of, as far as it has said.
    pub fn unreported(&self) -> usize {
        self.held.len() + self.unacknowledged.len()
    }

    /// The reports that were not acknowledged.
    pub fn unacknowledged(&self) -> impl Iterator<Item = &FinalReport> + Clone {
        self.unacknowledged.values()
    }

    /// The leases that are worked on; those that are called back are left to end.
    pub fn working(&self) -> Vec<u64> {
        self.worked_on().collect()
    }

    /// Whether a slot works on a lease, or is about to.
    pub fn is_worked_on(&self) -> bool {
        self.worked_on().next().is_some()
    }

    fn worked_on(&self) -> impl Iterator<Item = u64> {
        let working = self.held.iter().filter(|(_, held)| !held.stop.load(Ordering::Relaxed));
        working.map(|(&lease, _)| lease)
    }

    /// Stops all of its searches.
    pub fn stop_all(&self) {
        for held in self.held.values() {
            held.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Stops the search of a lease that is called back.
    pub fn cancel(&self, lease: u64) {
        if let Some(held) = self.held.get(&lease) {
            debug!("lease {lease} is called back");
            held.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets a report that has arrived.
    pub fn acknowledge(&mut self, lease: u64) {
        self.unacknowledged.remove(&lease);
    }

    /// Takes a lease, and gives what a slot is to do. The error says why it is declined.
    pub fn hold(&mut self, lease: v1::Lease, games: &mut GamesAtHand) -> Result<Task, String> {
        let game = self.game.as_ref().map_err(Clone::clone)?;
        let sentence = |error: WireError| error.to_string();
        let job = lease.job.ok_or(WireError::Missing("lease.job")).map_err(sentence)?;
        let job = Job::try_from(job).map_err(sentence)?;
        let report_interval =
            in_range("lease.report_interval_ms", lease.report_interval_ms, 1, u64::MAX)
                .map_err(sentence)?;
        in_range("lease.deadline_ms", lease.deadline_ms, 1, u64::MAX).map_err(sentence)?;
        let Entry::Vacant(entry) = self.held.entry(lease.lease_id) else {
            return Err("the worker holds it already".to_owned());
        };
        let game = games.at_hand(game)?;
        let stop = Arc::new(AtomicBool::new(false));
        let subject = v1::Subject { seal: lease.seal, ..v1::Subject::from(&job) };
        entry.insert(HeldLease { stop: stop.clone(), subject });
        debug!("lease {} taken: {job:?}", lease.lease_id);
        let (generation, lease) = (self.generation, lease.lease_id);
        let report_interval = Duration::from_millis(report_interval);
        Ok(Task { generation, game, lease, job, report_interval, stop })
    }

    /// Keeps what a slot said of a lease, and puts it into words for the coordinator.
    pub fn note(
        &mut self,
        lease_id: u64,
        what: SlotEventKind,
        declines: &mut DeclineReasons,
    ) -> BatchEntry {
        match what {
            SlotEventKind::Progress(findings) => BatchEntry::Progress(v1::Progress {
                lease_id,
                findings: Some(v1::Findings::from(&findings)),
            }),
            SlotEventKind::Ended { findings, certificate, elapsed, hearsay } => {
                let held = self.held.remove(&lease_id);
                let report = v1::Report {
                    lease_id,
                    findings: Some(v1::Findings::from(&findings)),
                    elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
                    subject: held.map(|held| held.subject),
                    certificate_bytes: certificate.as_ref().map(|bytes| bytes.len() as u64),
                    hearsay,
                };
                let certificate = certificate.map(Arc::from);
                let report = FinalReport { report, certificate };
                self.unacknowledged.insert(lease_id, report.clone());
                match report.certificate {
                    Some(_) => BatchEntry::Proved(report),
                    None => BatchEntry::Report(report.report),
                }
            }
            SlotEventKind::Declined(reason) => {
                let called_back = self.held.remove(&lease_id);
                if !called_back.is_some_and(|held| held.stop.load(Ordering::Relaxed)) {
                    declines.say(lease_id, &reason);
                }
                let reason = reason.chars().take(MAX_REASON).collect();
                BatchEntry::Decline(v1::Decline { lease_id, reason })
            }
        }
    }
}
