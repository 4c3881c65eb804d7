//! The state of a solve, to the wire and back.
//!
//! The core may not know of messages, and the contract not of the core, so each has its own list of the
//! fields. Here they are listed once for both directions, and one that is missing does not compile.

use jlpns_proto::v1;
use jlpns_solve::{ParkedJob, RootEffort, SolveStatus, WorkerStatus};

/// The state of a solve as a message.
pub fn to_wire(status: SolveStatus) -> v1::SolveStatus {
    status.into_message()
}

/// The state of a solve from a message.
pub fn from_wire(status: v1::SolveStatus) -> SolveStatus {
    SolveStatus::of_message(status)
}

/// The state of a worker from a message.
pub fn worker_from_wire(status: v1::WorkerStatus) -> WorkerStatus {
    WorkerStatus::of_message(status)
}

/// A type of the core that has the fields of a message.
trait SameFields {
    type Message;

    fn into_message(self) -> Self::Message;

    fn of_message(message: Self::Message) -> Self;
}

/// The message has the name of the type. The fields in `lists` are lists of such types.
macro_rules! same_fields {
    ($name:ident { $($field:ident),* $(,)? } lists { $($list:ident),* $(,)? }) => {
        impl SameFields for $name {
            type Message = v1::$name;

            fn into_message(self) -> v1::$name {
                v1::$name {
                    $($field: self.$field,)*
                    $($list: self.$list.into_iter().map(SameFields::into_message).collect(),)*
                }
            }

            fn of_message(message: v1::$name) -> $name {
                $name {
                    $($field: message.$field,)*
                    $($list: message.$list.into_iter().map(SameFields::of_message).collect(),)*
                }
            }
        }
    };
}

same_fields!(RootEffort { outcome, at_least, less } lists {});

same_fields!(ParkedJob { moves, losses } lists {});

same_fields!(WorkerStatus {
    name,
    slots,
    running,
    jobs,
    nodes,
    draining,
    paused,
    idle_reason,
    stuck,
    seconds,
    machine,
    build,
    refused,
    silent_seconds,
    confirmed,
} lists {});

same_fields!(SolveStatus {
    spec,
    moves,
    goal,
    sub_search,
    selection,
    proved,
    value,
    last_move,
    lower,
    upper,
    best_move,
    most_proving_move,
    tree_nodes,
    peak_tree_nodes,
    tree_bytes,
    claim_bytes,
    shed_nodes,
    shared_positions,
    nodes,
    earlier_nodes,
    earlier_jobs,
    jobs,
    leased,
    cancelled,
    leases_expired,
    leases_stalled,
    leases_copied,
    refused,
    duplicates,
    records,
    durable_records,
    halted,
    confirmed,
    unconfirmed,
    disputes,
    quarantined,
    answer_claims,
    answer_confirmed,
    most_workers,
    seconds,
    search_seconds,
    slot_seconds,
} lists { efforts, parked_jobs, workers });
