//! Jobs that take too long, and the idle slots that get them as well.

use super::*;

/// A cluster whose workers have a frontier node each, but for the last one, which has nothing to do.
fn with_an_idle_worker() -> Cluster {
    let mut cluster = Cluster::new(settings("connect4:4x4", "", None));
    cluster.join(1);
    let root = cluster.held.remove(0);
    cluster.report(root.worker, &root).unwrap();
    while cluster.held.len() == cluster.workers.len() {
        cluster.join(1);
    }
    cluster
}

/// Passes so much time that searches take too long, and none of them is thought lost.
fn take_too_long(cluster: &mut Cluster) {
    cluster.pass(cluster.solve.settings().lease_length / 2);
}

#[test]
fn an_idle_slot_gets_the_job_of_a_straggler_as_well_and_the_first_report_counts() {
    let mut cluster = with_an_idle_worker();
    let before = cluster.held.clone();
    let idle = *cluster.workers.last().unwrap();
    take_too_long(&mut cluster);
    let copy = cluster.held.last().unwrap().clone();
    assert_eq!(cluster.held.len(), before.len() + 1, "a slot has one copy, and no job a third");
    assert_eq!((copy.worker, &copy.job), (idle, &before[0].job), "the oldest goes first");
    assert_eq!(cluster.solve.status(cluster.now).leases_copied, 1);

    cluster.held.retain(|held| held.lease != copy.lease);
    cluster.report(idle, &copy).unwrap();
    let lost: Vec<LeaseId> = cluster.lost.iter().map(|held| held.lease).collect();
    assert!(lost.contains(&before[0].lease), "the straggler is called off");
    let jobs = cluster.solve.status(cluster.now).jobs;
    cluster.report(before[0].worker, &before[0]).unwrap();
    let status = cluster.solve.status(cluster.now);
    assert_eq!((status.jobs, status.refused), (jobs + 1, 0), "its work is counted");
}

#[test]
fn a_job_that_two_have_stays_with_the_other_when_one_is_lost() {
    for lose_the_copy in [false, true] {
        let mut cluster = with_an_idle_worker();
        let first = cluster.held[0].clone();
        take_too_long(&mut cluster);
        let copy = cluster.held.last().unwrap().clone();
        let (gone, stays) = if lose_the_copy { (copy, first) } else { (first, copy) };
        cluster.workers.retain(|&worker| worker != gone.worker);
        cluster.held.retain(|held| held.worker != gone.worker);
        cluster.send(Event::Left { worker: gone.worker }).unwrap();
        let same = |held: &&Held| held.job.moves == gone.job.moves;
        assert_eq!(cluster.held.iter().filter(same).count(), 1, "nobody else gets it");
        cluster.held.retain(|held| held.lease != stays.lease);
        cluster.report(stays.worker, &stays).unwrap();
        let status = cluster.solve.status(cluster.now);
        assert_eq!((status.refused, status.duplicates), (0, 0));
    }
}

#[test]
fn a_job_that_was_lost_twice_is_not_copied() {
    let mut cluster = with_an_idle_worker();
    let first = cluster.held[0].clone();
    for _ in 0..2 {
        let same = |held: &Held| held.job.moves == first.job.moves;
        let at = cluster.held.iter().position(same).unwrap();
        let lost = cluster.held.remove(at);
        cluster.workers.retain(|&worker| worker != lost.worker);
        cluster.send(Event::Left { worker: lost.worker }).unwrap();
        let again = cluster.held.last().unwrap();
        assert_eq!(again.job.moves, first.job.moves, "the idle worker has it");
        cluster.join(1);
    }
    take_too_long(&mut cluster);
    let same = |held: &&Held| held.job.moves == first.job.moves;
    assert_eq!(cluster.held.iter().filter(same).count(), 1);
    assert_eq!(cluster.solve.status(cluster.now).leases_copied, 1, "of another job");
}

#[test]
fn a_machine_gets_no_copy_of_a_job_that_it_has() {
    let mut cluster = with_an_idle_worker();
    let idle = cluster.workers.pop().unwrap();
    cluster.send(Event::Left { worker: idle }).unwrap();
    let again = WorkerId(1_000);
    cluster.workers.push(again);
    // All that is out is with one machine, which comes a second time.
    let mut keep = cluster.held.clone();
    keep.retain(|held| held.worker != cluster.held[0].worker);
    for held in keep {
        cluster.workers.retain(|&worker| worker != held.worker);
        cluster.held.retain(|other| other.lease != held.lease);
        cluster.send(Event::Left { worker: held.worker }).unwrap();
    }
    let first = cluster.held[0].clone();
    cluster.send(Event::Joined { worker: again, info: info("w1", 8) }).unwrap();
    take_too_long(&mut cluster);
    let same = |held: &&Held| held.job.moves == first.job.moves;
    assert_eq!(cluster.held.iter().filter(same).count(), 1);
}
