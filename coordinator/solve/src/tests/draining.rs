//! Workers that drain or pause: what they give back was not lost.

use super::*;

/// A cluster of two workers, and the second of them, which holds several leases.
fn at_work() -> (Cluster, WorkerId) {
    let mut settings = settings("connect4:4x4", "", None);
    settings.job_nodes = 20;
    let mut cluster = Cluster::new(settings);
    cluster.join(1);
    for _ in 0..8 {
        let held = cluster.held.remove(0);
        cluster.report(held.worker, &held).unwrap();
    }
    cluster.join(4);
    let worker = WorkerId(2);
    assert!(cluster.held.iter().filter(|held| held.worker == worker).count() > 1);
    (cluster, worker)
}

/// What a worker that leaves says.
fn draining(worker: WorkerId) -> Event {
    Event::Readiness { worker, readiness: Readiness::Draining("SIGTERM".to_owned()) }
}

/// What a worker that pauses says.
fn paused(worker: WorkerId) -> Event {
    Event::Readiness { worker, readiness: Readiness::Paused("somebody is here".to_owned()) }
}

/// The leases that a worker holds.
fn leases(cluster: &Cluster, worker: WorkerId) -> Vec<LeaseId> {
    let held = cluster.held.iter().filter(|held| held.worker == worker);
    held.map(|held| held.lease).collect()
}

#[test]
fn leases_that_a_draining_worker_gives_back_have_not_expired() {
    let (mut cluster, worker) = at_work();
    cluster.send(draining(worker)).unwrap();
    let leases = leases(&cluster, worker);
    // One by a word, the rest with the connection.
    cluster.held.retain(|held| held.lease != leases[0]);
    cluster.send(Event::Declined { worker, lease: leases[0] }).unwrap();
    assert_eq!(cluster.solve.status(cluster.now).leases_expired, 0);
    cluster.held.retain(|held| held.worker != worker);
    cluster.workers.retain(|&other| other != worker);
    cluster.send(Event::Left { worker }).unwrap();
    let status = cluster.solve.status(cluster.now);
    assert_eq!((status.leases_expired, status.leased), (0, 1));
}

#[test]
fn leases_of_a_worker_that_goes_without_draining_have_expired() {
    let (mut cluster, worker) = at_work();
    let lost = leases(&cluster, worker).len() as u64;
    cluster.held.retain(|held| held.worker != worker);
    cluster.workers.retain(|&other| other != worker);
    cluster.send(Event::Left { worker }).unwrap();
    assert_eq!(cluster.solve.status(cluster.now).leases_expired, lost);
}

#[test]
fn leases_of_a_draining_worker_that_falls_silent_have_expired() {
    let (mut cluster, worker) = at_work();
    cluster.send(draining(worker)).unwrap();
    let silent = leases(&cluster, worker).len() as u64;
    let other = leases(&cluster, WorkerId(1));
    cluster.pass(Duration::from_secs(9));
    cluster.send(Event::Renewed { worker: WorkerId(1), leases: other }).unwrap();
    cluster.pass(Duration::from_secs(1));
    assert_eq!(cluster.solve.status(cluster.now).leases_expired, silent);
}

#[test]
fn a_worker_that_pauses_gives_back_what_it_has_and_comes_back_to_work() {
    let (mut cluster, worker) = at_work();
    let slots = cluster.solve.dispatch.scheduler.slots();
    cluster.send(paused(worker)).unwrap();
    assert_eq!(cluster.solve.dispatch.scheduler.slots(), slots - 4);
    for lease in leases(&cluster, worker) {
        cluster.held.retain(|held| held.lease != lease);
        cluster.send(Event::Declined { worker, lease }).unwrap();
    }
    let status = cluster.solve.status(cluster.now);
    assert_eq!((status.leases_expired, status.leased), (0, 1));
    assert!(status.workers[1].paused && !status.workers[1].draining, "{status:?}");
    assert_eq!(status.workers[1].idle_reason, "somebody is here");
    // Told twice it is the same.
    cluster.send(paused(worker)).unwrap();
    assert_eq!(cluster.solve.dispatch.scheduler.slots(), slots - 4);
    cluster.send(Event::Readiness { worker, readiness: Readiness::Ready }).unwrap();
    assert_eq!(cluster.solve.dispatch.scheduler.slots(), slots);
    assert!(!leases(&cluster, worker).is_empty());
    assert_eq!(cluster.solve.status(cluster.now).workers[1].idle_reason, "");
}

#[test]
fn a_worker_that_drains_does_not_come_back_to_work() {
    let (mut cluster, worker) = at_work();
    for later in
        [draining(worker), paused(worker), Event::Readiness { worker, readiness: Readiness::Ready }]
    {
        cluster.send(later).unwrap();
        let status = cluster.solve.status(cluster.now);
        assert!(status.workers[1].draining && !status.workers[1].paused, "{status:?}");
    }
    // A paused one may leave.
    let other = WorkerId(1);
    cluster.send(paused(other)).unwrap();
    cluster.send(draining(other)).unwrap();
    assert!(cluster.solve.status(cluster.now).workers[0].draining);
    assert_eq!(cluster.solve.dispatch.scheduler.slots(), 0);
}
