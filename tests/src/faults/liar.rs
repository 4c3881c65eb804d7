//! A worker that searches, and does not say what it finds.

use std::sync::Arc;

use jlpns_proto::convert::packed;
use jlpns_proto::{MAX_BATCH, v1};
use jlpns_search::searcher::{Searcher, Searching};
use jlpns_search::sub_search::SubSearches;
use jlpns_search::{ChildFindings, EffortPair, Findings, Job};

/// The memory of its searches, in bytes.
const MEMORY: u64 = 64 << 20;

/// A liar for one game.
pub struct Liar {
    searcher: Arc<dyn Searcher>,
    /// How many of its reports were not true.
    pub lies: u64,
}

impl Liar {
    /// A liar for the game of `spec`.
    ///
    /// # Panics
    ///
    /// If there is no such game.
    pub fn new(spec: &str) -> Liar {
        let spec = spec.parse().expect("a spec");
        let searcher = SubSearches.searcher(&spec, MEMORY, 1).expect("a searcher");
        searcher.keep_solved_from(1);
        Liar { searcher, lies: 0 }
    }

    /// The report of a lease: as it should be, but what is proved is said to be disproved, and the
    /// other way round.
    ///
    /// # Panics
    ///
    /// If the lease makes no sense.
    pub fn report(&mut self, lease: v1::Lease) -> v1::Report {
        self.report_but(lease, |findings| {
            let below = findings.children.iter_mut().flat_map(|child| &mut child.efforts);
            flip(findings.efforts.iter_mut().chain(below))
        })
    }

    /// The report of a lease: that of one child the contrary is settled is its only lie.
    ///
    /// # Panics
    ///
    /// If the lease makes no sense.
    pub fn report_wrong_about_one_child(&mut self, lease: v1::Lease) -> v1::Report {
        self.report_but(lease, |findings| {
            let settled = |child: &&mut ChildFindings| child.efforts.iter().any(|p| p.is_solved());
            let child = findings.children.iter_mut().rfind(settled);
            flip(child.into_iter().flat_map(|child| &mut child.efforts))
        })
    }

    /// The report of a lease, as it should be.
    ///
    /// # Panics
    ///
    /// If the lease makes no sense.
    pub fn report_the_truth(&mut self, lease: v1::Lease) -> v1::Report {
        self.report_but(lease, |_| false)
    }

    /// What it tells other workers that it has solved since the last call: the contrary of all of it.
    pub fn poison(&mut self) -> v1::SolvedPositions {
        let mut solved = self.searcher.take_solved();
        solved.truncate(MAX_BATCH);
        self.lies += solved.len() as u64;
        solved.iter_mut().for_each(|solved| solved.holds = !solved.holds);
        packed(&solved)
    }

    fn report_but(
        &mut self,
        lease: v1::Lease,
        lie: impl FnOnce(&mut Findings) -> bool,
    ) -> v1::Report {
        let job = Job::try_from(lease.job.expect("a lease is for a job")).expect("a sound job");
        let mut findings = self.searcher.search(&job, &mut ()).expect("a job that can be done");
        self.lies += u64::from(lie(&mut findings));
        v1::Report {
            lease_id: lease.lease_id,
            findings: Some(v1::Findings::from(&findings)),
            elapsed_us: 1,
            subject: Some(v1::Subject { seal: lease.seal, ..v1::Subject::from(&job) }),
            certificate_bytes: None,
            hearsay: false,
        }
    }
}

/// Says the contrary of what is settled; whether anything is.
fn flip<'a>(efforts: impl Iterator<Item = &'a mut EffortPair>) -> bool {
    let mut lied = false;
    for pair in efforts.filter(|pair| pair.is_solved()) {
        *pair = EffortPair { proof: pair.disproof, disproof: pair.proof };
        lied = true;
    }
    lied
}
