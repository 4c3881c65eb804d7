//! Stragglers: jobs that take far longer than others would. A slot that has nothing else to do gets such
//! a job as well, and the first report of the two counts.

use std::time::Duration;

use jlpns_search::Job;

use super::{Lease, LeaseId, Scheduler, WorkerId};

/// A job is a straggler's when it has taken so many times as long as the median worker takes for
/// its whole budget, and `LEAST_PATIENCE` more.
const PATIENCE: f64 = 2.0;
const LEAST_PATIENCE: Duration = Duration::from_secs(1);
/// A lease ends after so many times that time, beside the time that a search may stand still.
pub(super) const LONGEST: u32 = 64;

impl Scheduler {
    /// How long a job may take before an idle slot gets it as well: as long as a lease lasts, while no
    /// rate was measured.
    pub(super) fn patience(&mut self, job: &Job, at_once: bool) -> Duration {
        let rate = self.median_rate();
        if rate == 0 {
            return self.terms.length;
        }
        // One that waits for a slot waits for a search that is as long.
        let searches = if at_once { PATIENCE } else { 2.0 * PATIENCE };
        let search = job.budget as f64 / rate as f64;
        let search = Duration::try_from_secs_f64(searches * search).unwrap_or(self.terms.length);
        LEAST_PATIENCE.saturating_add(search)
    }

    /// The lease that has taken too long for longest, of those that another machine than that of `id`
    /// holds and that `may` go out again.
    pub fn straggler(
        &self,
        id: WorkerId,
        now: Duration,
        may: impl Fn(&Lease) -> bool,
    ) -> Option<(LeaseId, &Lease)> {
        let machine = self.workers.get(&id)?.machine;
        let due = self.overtime.iter().take_while(|(at, _)| *at <= now);
        due.filter_map(|(_, lease_id)| Some((*lease_id, &**self.leases.get(lease_id)?)))
            .find(|(_, lease)| lease.machine != machine && may(lease))
    }

    /// When the next lease will have taken too long, after `now`.
    pub fn next_straggler(&self, now: Duration) -> Option<Duration> {
        let after = (now + Duration::from_nanos(1), LeaseId(0));
        self.overtime.range(after..).next().map(|&(at, _)| at)
    }

    /// From now on an idle slot may get the job of a lease when it takes too long.
    pub fn watch(&mut self, lease_id: LeaseId) {
        if let Some(lease) = self.leases.get_mut(&lease_id) {
            let at = lease.granted + lease.patience;
            lease.overtime = Some(at);
            self.overtime.insert((at, lease_id));
        }
    }

    /// Leases the job of a straggler to a second worker. It does not go to a third one while both have
    /// it.
    pub fn grant_copy(&mut self, id: WorkerId, of: LeaseId, now: Duration) -> Option<LeaseId> {
        let lease = self.leases.get_mut(&of)?;
        let (purpose, job) = (lease.purpose, lease.job.clone());
        if let Some(at) = lease.overtime.take() {
            self.overtime.remove(&(at, of));
        }
        self.copied += 1;
        Some(self.grant_unwatched(id, purpose, job, now))
    }
}
