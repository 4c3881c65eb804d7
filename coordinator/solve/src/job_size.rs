//! How many nodes a job may create: few while the tree is young, as many as the coordinator can serve
//! later on.

use super::SolveSettings;
use super::scheduler::Scheduler;
use super::tally::Tally;
use super::top_level::TreeSize;

/// The smallest budget of a job, for the beginning of a solve.
const LEAST_JOB_NODES: u64 = 1_000;

/// While a solve is young, all slots together may have work out for a fraction of one in this
/// number of what has been searched: the tree branches before the jobs grow.
const YOUNG_SHARE: u64 = 4;

/// When the tree is full, the budget of jobs doubles with each of this many reports that found no
/// room: what cannot be a node must be searched deeper.
const FULL_TREE_STEP: u64 = 64;

/// It also doubles with each of this many times that the tree shed nodes, an eighth of it each
/// time: by then it has been turned over.
const SHED_STEP: u64 = 8;

/// The budget of the next job; it is cut by so many powers of two if the job was lost before.
pub fn budget(
    settings: &SolveSettings,
    tally: &Tally,
    scheduler: &mut Scheduler,
    tree: TreeSize,
    cut: u32,
) -> u64 {
    let young = tally.nodes / (YOUNG_SHARE * scheduler.slots().max(1));
    let least = LEAST_JOB_NODES.min(settings.job_nodes);
    let wanted = young.min(settings.job_nodes).max(of_rare_jobs(settings, scheduler)).max(least);
    let doublings = tally.without_room / FULL_TREE_STEP + tree.shed.times / SHED_STEP;
    (wanted.saturating_mul(1 << doublings.min(40)) >> cut).max(least)
}

/// The nodes of a job, if all searches that are out together finish as many jobs a second as
/// they may.
fn of_rare_jobs(settings: &SolveSettings, scheduler: &mut Scheduler) -> u64 {
    let Some(most) = settings.most_jobs_a_second else { return 0 };
    let a_second = u128::from(scheduler.median_rate());
    // While the tree is too small for all slots, this leaves its first jobs small.
    let searches = scheduler.slots().min(scheduler.held() + 1);
    u64::try_from(a_second * u128::from(searches) / u128::from(most.max(1))).unwrap_or(u64::MAX)
}
