//! How fast the slots search.

use super::{Scheduler, Worker};

impl Scheduler {
    /// The nodes that a slot searches in a second: the median over the workers, which no single one
    /// can move far.
    pub fn median_rate(&mut self) -> u64 {
        // A look at all workers for each report of one of them would be too much.
        if self.ended < self.rate_due {
            return self.rate;
        }
        self.rate_due = self.ended + self.workers.len() as u64;
        self.rate = self.measured_rate();
        self.rate
    }

    fn measured_rate(&self) -> u64 {
        let rate = |worker: &Worker| {
            let micros = worker.search_time.as_micros();
            (micros > 0).then(|| u128::from(worker.nodes) * 1_000_000 / micros)
        };
        let mut rates: Vec<u128> = self.workers.values().filter_map(rate).collect();
        let middle = rates.len() / 2;
        if rates.is_empty() {
            return 0;
        }
        u64::try_from(*rates.select_nth_unstable(middle).1).unwrap_or(u64::MAX)
    }
}
