//! The wire contract between the coordinator and the workers of jlpns.
//!
//! - [`v1`]: the messages and the service, generated from `jlpns/v1/*.proto`.
//! - [`convert`]: from the messages to the types of `jlpns-search` and back, with every field
//!   checked.

pub mod convert;

use std::sync::LazyLock;

/// The encoding of the messages.
pub use prost;

/// Version 1 of the contract, as generated; the comments are those of the `.proto` files.
pub mod v1 {
    tonic::include_proto!("jlpns.v1");

    /// A message about the solve that the welcome names.
    impl From<worker_message::Kind> for WorkerMessage {
        fn from(kind: worker_message::Kind) -> WorkerMessage {
            WorkerMessage { kind: Some(kind), solve: 0 }
        }
    }

    /// A message about the solve that the welcome names, or about the stream itself.
    impl From<coordinator_message::Kind> for CoordinatorMessage {
        fn from(kind: coordinator_message::Kind) -> CoordinatorMessage {
            CoordinatorMessage { kind: Some(kind), solve: 0 }
        }
    }
}

/// The version of the contract that this build speaks. A coordinator refuses workers of another.
pub const PROTOCOL_VERSION: u32 = 6;

/// The version of the journal's format that this build reads and writes.
pub const JOURNAL_VERSION: u32 = 1;

/// The commit that this was built from, or "unknown".
pub const COMMIT: &str = env!("JLPNS_COMMIT");

/// This build, for people: its version, and what it was built from.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("JLPNS_COMMIT"));

/// The same with the versions of what it speaks and writes: what `--version` prints behind a program's name.
pub static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}\ncommit {COMMIT}\nprotocol {PROTOCOL_VERSION}\njournal {JOURNAL_VERSION}")
});

/// The longest name of a machine or a build, in characters.
pub const MAX_LABEL: usize = 128;

/// The descriptors of the contract, for gRPC reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/jlpns.v1.bin"));

/// The largest message that either side reads, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The most bytes in a part of a certificate.
pub const MAX_PART: usize = 1 << 20;
/// The most bytes that a certificate of a job may have.
pub const MAX_CERTIFICATE: u64 = 1 << 30;
/// The most entries in each list of a batch.
pub const MAX_BATCH: usize = 4096;
/// The most parts of solved positions in a batch, each of so many positions as a list may have.
pub const MAX_SOLVED_PARTS: usize = 64;
/// The most entries of one request to a queue.
pub const MAX_SUBMITTED: usize = 4096;
/// The most entries of a queue that one request may name.
pub const MAX_NUMBERS: usize = 65_536;
/// The largest weight of an entry of a queue.
pub const MAX_PRIORITY: u32 = 1000;
/// The most games that a worker may name.
pub const MAX_GAMES: usize = 64;
/// The longest worker name, in characters.
pub const MAX_NAME: usize = 128;
/// The longest reason for declining a lease, in characters.
pub const MAX_REASON: usize = 1000;
/// The most slots of one worker.
pub const MAX_SLOTS: u32 = 1024;
/// The longest game, in moves, that a job may begin with.
pub const MAX_MOVES: usize = 4096;
/// The longest time that one search may report, in microseconds: a year.
pub const MAX_ELAPSED_US: u64 = 366 * 24 * 3600 * 1_000_000;
/// The most nodes that one search may report: what a double holds exactly.
pub const MAX_NODES: u64 = 1 << 53;
