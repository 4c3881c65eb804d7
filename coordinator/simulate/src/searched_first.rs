//! Who has searched a position first: what another worker searches of it later, it would have found in a
//! common memory.
//!
//! Every visit of a search to a position of a sample is counted, by the position's key; the sample
//! is the same for all workers ([`Searcher::note_searched`]).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::FixedState;
use jlpns_search::searcher::Searcher;
use jlpns_search::{Findings, Job};

use super::search::{Part, PausedSearch, Search};

/// The visits of all workers' searches to positions of the sample.
#[derive(Debug, Default)]
pub struct Visits {
    /// The worker that has visited each position first.
    first: HashMap<u128, usize, FixedState>,
    /// All visits.
    all: u64,
    /// Those to positions that another worker has visited first.
    elsewhere_first: u64,
}

impl Visits {
    fn add(&mut self, worker: usize, position: u128) {
        let first = *self.first.entry(position).or_insert(worker);
        self.all += 1;
        self.elsewhere_first += u64::from(first != worker);
    }

    /// The share of visits to positions that another worker has visited first, from 0 to 1. `None` if
    /// none was noted, as by searches that use no table.
    pub fn elsewhere_first(&self) -> Option<f64> {
        (self.all > 0).then(|| self.elsewhere_first as f64 / self.all as f64)
    }
}

/// A search whose visits are counted.
pub struct CountedSearch {
    /// The search.
    pub search: PausedSearch,
    /// What notes its visits.
    pub searcher: Arc<dyn Searcher>,
    /// What is searched.
    pub job: Job,
    /// Its worker.
    pub worker: usize,
    /// Those of all searches.
    pub visits: Rc<RefCell<Visits>>,
}

impl Search for CountedSearch {
    fn advance(&mut self) -> Part {
        let part = self.search.advance();
        let mut visits = self.visits.borrow_mut();
        for position in self.searcher.take_searched() {
            visits.add(self.worker, position);
        }
        part
    }

    fn rests_on_hearsay(&self) -> bool {
        self.searcher.rests_on_hearsay(&self.job)
    }

    fn stop(self: Box<Self>) -> Option<Findings> {
        Box::new(self.search).stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_belongs_to_whoever_visits_it_first() {
        let mut visits = Visits::default();
        assert_eq!(visits.elsewhere_first(), None);
        for (worker, position) in [(0, 7), (0, 7), (1, 7), (1, 8), (1, 7), (0, 8), (1, 8), (2, 9)] {
            visits.add(worker, position);
        }
        assert_eq!(visits.elsewhere_first(), Some(3.0 / 8.0));
    }
}
