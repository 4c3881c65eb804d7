//! The state of a solve, to the wire and back.

use jlpns_proto::v1;
use jlpns_solve::{ParkedJob, RootEffort, SolveStatus, WorkerStatus};

/// The state of a solve as a message.
pub fn to_wire(status: SolveStatus) -> v1::SolveStatus {
    let efforts = status.efforts.into_iter().map(|effort| v1::RootEffort {
        outcome: effort.outcome,
        at_least: effort.at_least,
        less: effort.less,
    });
    let workers = status.workers.into_iter().map(|worker| v1::WorkerStatus {
        name: worker.name,
        slots: worker.slots,
        running: worker.running,
        jobs: worker.jobs,
        nodes: worker.nodes,
        draining: worker.draining,
        stuck: worker.stuck,
        seconds: worker.seconds,
        machine: worker.machine,
        build: worker.build,
        refused: worker.refused,
        silent_seconds: worker.silent_seconds,
        confirmed: worker.confirmed,
    });
    let parked_jobs = status
        .parked_jobs
        .into_iter()
        .map(|job| v1::ParkedJob { moves: job.moves, losses: job.losses });
    v1::SolveStatus {
        spec: status.spec,
        moves: status.moves,
        goal: status.goal,
        sub_search: status.sub_search,
        proved: status.proved,
        value: status.value,
        lower: status.lower,
        upper: status.upper,
        best_move: status.best_move,
        efforts: efforts.collect(),
        tree_nodes: status.tree_nodes,
        peak_tree_nodes: status.peak_tree_nodes,
        tree_bytes: status.tree_bytes,
        shed_nodes: status.shed_nodes,
        shared_positions: status.shared_positions,
        nodes: status.nodes,
        earlier_nodes: status.earlier_nodes,
        answer_claims: status.answer_claims,
        answer_confirmed: status.answer_confirmed,
        jobs: status.jobs,
        leased: status.leased,
        cancelled: status.cancelled,
        leases_expired: status.leases_expired,
        refused: status.refused,
        leases_stalled: status.leases_stalled,
        leases_copied: status.leases_copied,
        duplicates: status.duplicates,
        records: status.records,
        durable_records: status.durable_records,
        parked: status.parked,
        parked_jobs: parked_jobs.collect(),
        confirmed: status.confirmed,
        unconfirmed: status.unconfirmed,
        disputes: status.disputes,
        quarantined: status.quarantined,
        most_workers: status.most_workers,
        workers: workers.collect(),
        seconds: status.seconds,
        search_seconds: status.search_seconds,
        slot_seconds: status.slot_seconds,
    }
}

/// The state of a solve from a message.
pub fn from_wire(status: v1::SolveStatus) -> SolveStatus {
    let efforts = status.efforts.into_iter().map(|effort| RootEffort {
        outcome: effort.outcome,
        at_least: effort.at_least,
        less: effort.less,
    });
    let workers = status.workers.into_iter().map(|worker| WorkerStatus {
        name: worker.name,
        slots: worker.slots,
        running: worker.running,
        jobs: worker.jobs,
        nodes: worker.nodes,
        draining: worker.draining,
        stuck: worker.stuck,
        seconds: worker.seconds,
        machine: worker.machine,
        build: worker.build,
        refused: worker.refused,
        silent_seconds: worker.silent_seconds,
        confirmed: worker.confirmed,
    });
    let parked_jobs = status
        .parked_jobs
        .into_iter()
        .map(|job| ParkedJob { moves: job.moves, losses: job.losses });
    SolveStatus {
        spec: status.spec,
        moves: status.moves,
        goal: status.goal,
        sub_search: status.sub_search,
        proved: status.proved,
        value: status.value,
        lower: status.lower,
        upper: status.upper,
        best_move: status.best_move,
        efforts: efforts.collect(),
        tree_nodes: status.tree_nodes,
        peak_tree_nodes: status.peak_tree_nodes,
        tree_bytes: status.tree_bytes,
        shed_nodes: status.shed_nodes,
        shared_positions: status.shared_positions,
        nodes: status.nodes,
        earlier_nodes: status.earlier_nodes,
        answer_claims: status.answer_claims,
        answer_confirmed: status.answer_confirmed,
        jobs: status.jobs,
        leased: status.leased,
        cancelled: status.cancelled,
        leases_expired: status.leases_expired,
        refused: status.refused,
        leases_stalled: status.leases_stalled,
        leases_copied: status.leases_copied,
        duplicates: status.duplicates,
        records: status.records,
        durable_records: status.durable_records,
        parked: status.parked,
        parked_jobs: parked_jobs.collect(),
        confirmed: status.confirmed,
        unconfirmed: status.unconfirmed,
        disputes: status.disputes,
        quarantined: status.quarantined,
        most_workers: status.most_workers,
        workers: workers.collect(),
        seconds: status.seconds,
        search_seconds: status.search_seconds,
        slot_seconds: status.slot_seconds,
    }
}
