//! What passes between workers and a coordinator, as far as promises hang on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use jlpns_proto::v1;
use jlpns_proto::v1::coordinator_message::Kind as FromCoordinator;
use jlpns_proto::v1::worker_message::Kind as FromWorker;

/// What relays have seen, over all workers and all lives of a coordinator.
#[derive(Debug, Default)]
pub struct Ledger {
    book: Mutex<Book>,
}

/// The entries of a [`Ledger`].
#[derive(Clone, Debug, Default)]
pub struct Book {
    streams: u64,
    granted: BTreeMap<u64, Grant>,
    /// Leases that are not their worker's any more: called back, or declined.
    withdrawn: BTreeSet<u64>,
    /// Leases whose report answers nothing.
    unanswered: BTreeSet<u64>,
    /// Leases whose report was acknowledged.
    acknowledged: BTreeSet<u64>,
    /// Those of them that were their worker's all the time.
    kept: BTreeSet<u64>,
}

/// What is noted of a lease.
#[derive(Clone, Copy, Debug)]
struct Grant {
    stream: u64,
    budget: u64,
    wants_proof: bool,
}

impl Ledger {
    /// A number for a new stream.
    pub fn stream(&self) -> u64 {
        let mut book = self.book();
        book.streams += 1;
        book.streams
    }

    /// Notes what a coordinator says, before anything happens to it.
    pub fn hear(&self, stream: u64, message: &v1::CoordinatorMessage) {
        let Some(FromCoordinator::Batch(batch)) = &message.kind else { return };
        let mut book = self.book();
        book.withdrawn.extend(&batch.cancels);
        for &lease in &batch.acknowledged {
            book.acknowledged.insert(lease);
            // A report that comes late, or on another stream, may tell nothing any more.
            let is_kept = book.granted.get(&lease).is_some_and(|grant| grant.stream == stream);
            if is_kept && !book.withdrawn.contains(&lease) {
                book.kept.insert(lease);
            }
        }
        book.granted.extend(batch.leases.iter().filter_map(|lease| {
            let job = lease.job.as_ref()?;
            Some((lease.lease_id, Grant { stream, budget: job.budget, wants_proof: job.prove }))
        }));
    }

    /// Notes what a coordinator is told.
    pub fn tell(&self, message: &v1::WorkerMessage) {
        let Some(FromWorker::Batch(batch)) = &message.kind else { return };
        let mut book = self.book();
        book.withdrawn.extend(batch.declines.iter().map(|decline| decline.lease_id));
        let answers = |report: &v1::Report| {
            report.findings.as_ref().is_some_and(|found| found.efforts.contains(&0))
        };
        let unanswered = batch.reports.iter().filter(|&report| !answers(report));
        book.unanswered.extend(unanswered.map(|report| report.lease_id));
    }

    /// How many leases had their report acknowledged so far.
    pub fn acknowledged(&self) -> usize {
        self.book().acknowledged.len()
    }

    /// The entries so far.
    pub fn read(&self) -> Book {
        self.book().clone()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics with the book")
    }
}

impl Book {
    /// How many leases were granted.
    pub fn granted(&self) -> usize {
        self.granted.len()
    }

    /// How many leases had their report acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    /// The leases whose report has to be in the journal: of those that were their worker's all the time, all but the
    /// searches of a claim once more that came to nothing. They tell nothing of the claim, and are not kept.
    pub fn promised(&self) -> BTreeSet<u64> {
        let usual_budget = self.usual_budget();
        let may_be_a_recheck = |lease: &u64| {
            let grant = self.granted[lease];
            grant.wants_proof || Some(grant.budget) != usual_budget
        };
        let is_nothing = |lease: &u64| self.unanswered.contains(lease) && may_be_a_recheck(lease);
        self.kept.iter().copied().filter(|lease| !is_nothing(lease)).collect()
    }

    /// The budget of most leases: that of a job. The budget of a recheck hangs on the claim.
    fn usual_budget(&self) -> Option<u64> {
        let mut counts = BTreeMap::new();
        self.granted.values().for_each(|grant| *counts.entry(grant.budget).or_insert(0) += 1);
        counts.into_iter().max_by_key(|&(_, count)| count).map(|(budget, _): (u64, u64)| budget)
    }

    /// What is noted of a lease, for people.
    pub fn entry(&self, lease: u64) -> String {
        let answer = if self.unanswered.contains(&lease) { "no answer" } else { "an answer" };
        format!("lease {lease} with {answer}: {:?}", self.granted.get(&lease))
    }

    /// How many leases did not go their way: from the grant to the acknowledgement on one stream.
    pub fn disturbed(&self) -> usize {
        self.granted.len() - self.promised().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: u64 = 20_000;
    const ANSWER: [u32; 2] = [0, u32::MAX];
    const NO_ANSWER: [u32; 2] = [3, 4];

    /// A book in which one worker has had a lease on each of these jobs, and has reported these effort numbers; all
    /// were acknowledged.
    fn book(jobs: &[(v1::Job, [u32; 2])]) -> Book {
        let ledger = Ledger::default();
        let stream = ledger.stream();
        let heard = |batch| v1::CoordinatorMessage {
            kind: Some(FromCoordinator::Batch(batch)),
            ..v1::CoordinatorMessage::default()
        };
        for (lease_id, (job, efforts)) in (1..).zip(jobs) {
            let lease = v1::Lease { lease_id, job: Some(job.clone()), ..v1::Lease::default() };
            let granted = v1::CoordinatorBatch { leases: vec![lease], ..Default::default() };
            ledger.hear(stream, &heard(granted));
            let findings = v1::Findings { efforts: efforts.to_vec(), ..v1::Findings::default() };
            let findings = Some(findings);
            let report = v1::Report { lease_id, findings, ..v1::Report::default() };
            let reported = v1::WorkerBatch { reports: vec![report], ..v1::WorkerBatch::default() };
            ledger.tell(&v1::WorkerMessage {
                kind: Some(FromWorker::Batch(reported)),
                ..v1::WorkerMessage::default()
            });
            let acknowledged = vec![lease_id];
            let acknowledged = v1::CoordinatorBatch { acknowledged, ..Default::default() };
            ledger.hear(stream, &heard(acknowledged));
        }
        ledger.read()
    }

    #[test]
    fn what_a_job_has_found_is_promised_and_a_recheck_that_came_to_nothing_is_not() {
        let job = v1::Job { budget: JOB, ..v1::Job::default() };
        let proof = v1::Job { prove: true, ..job.clone() };
        let again = v1::Job { budget: 12_345, ..job.clone() };
        let book = book(&[
            (job.clone(), NO_ANSWER),
            (job, ANSWER),
            (proof.clone(), ANSWER),
            (proof, NO_ANSWER),
            (again.clone(), ANSWER),
            (again, NO_ANSWER),
        ]);
        assert_eq!(book.acknowledged(), 6);
        assert_eq!(book.promised(), BTreeSet::from([1, 2, 3, 5]));
        assert_eq!(book.disturbed(), 2);
    }
}
