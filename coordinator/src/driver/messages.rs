//! Messages to a worker: batches that are as long as the contract allows, and how they go out.

use std::time::Duration;

use jlpns_proto::v1::coordinator_message::Kind;
use jlpns_proto::{MAX_BATCH, MAX_SOLVED_PARTS, v1};
use jlpns_solve::Refusal;
use tonic::Status;
use tonic::metadata::MetadataValue;

use super::WorkerStream;

/// What a worker is told that must not come back.
pub(crate) fn denied(refusal: &Refusal) -> Status {
    let mut status = Status::permission_denied(refusal.to_string());
    if matches!(refusal, Refusal::Quarantined { .. }) {
        status.metadata_mut().insert(QUARANTINED, MetadataValue::from_static("true"));
    }
    status
}

/// Whether this is what a worker is told whose machine is put out.
pub(crate) fn says_quarantined(status: &Status) -> bool {
    status.metadata().contains_key(QUARANTINED)
}

/// What tells a machine that is put out from a worker that was cut off.
const QUARANTINED: &str = "jlpns-quarantined";

/// The message that ends the solve for a worker.
pub(crate) fn over(answer: String) -> Kind {
    Kind::Over(v1::SolveOver { answer })
}

/// The last message of a coordinator that is stopped and keeps its solve.
pub(crate) fn stopped() -> Kind {
    Kind::Batch(v1::CoordinatorBatch { stopped: true, ..Default::default() })
}

/// Whole milliseconds, at least 1: the contract has no 0.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Batches whose lists are as long as the contract allows.
pub(super) fn split(mut batch: v1::CoordinatorBatch) -> Vec<v1::CoordinatorBatch> {
    let mut batches = Vec::new();
    loop {
        let head = v1::CoordinatorBatch {
            leases: front(&mut batch.leases, MAX_BATCH),
            cancels: front(&mut batch.cancels, MAX_BATCH),
            acknowledged: front(&mut batch.acknowledged, MAX_BATCH),
            solved: front(&mut batch.solved, MAX_SOLVED_PARTS),
            stopped: false,
            solved_from: batch.solved_from.take(),
            sharing_over: std::mem::take(&mut batch.sharing_over),
        };
        if head == v1::CoordinatorBatch::default() {
            return batches;
        }
        batches.push(head);
    }
}

fn front<T>(list: &mut Vec<T>, most: usize) -> Vec<T> {
    let rest = list.split_off(list.len().min(most));
    std::mem::replace(list, rest)
}

/// Puts a message into a worker's channel; false if it is full or closed.
pub(super) fn post(connection: &WorkerStream, kind: Kind) -> bool {
    connection.outbound.try_send(Ok(v1::CoordinatorMessage::from(kind))).is_ok()
}
