//! Checks certificates: files that show what a position is worth, as `docs/certificate.md` describes them.
//!
//! Nothing here comes from the other crates of jlpns. The rules of both games are written from that page, so an
//! error in the searches, or in their rules, does not pass here as well.
//!
//! What has to be believed, in an order to read it in:
//!
//! - `header.rs`: what a file says that it shows; every header has one spelling.
//! - `pass.rs`: the pass over the layers, on all cores.
//! - `connect4.rs`, `woodpush.rs`: the rules, the standard form of positions and their order.
//! - `plan.rs`: how the claimant of a compact certificate goes on without any more numbers.
//! - `layer.rs`: a layer's positions, sorted, each once; those that memory does not hold are on disk.
//! - `blocks.rs`: the numbers, block by block, and the checksum of the whole file.
//! - `check.rs`: the pass with the numbers of a file, to its end.
//!
//! And what is built on it:
//!
//! - [`command`]: the command line.
//! - `plain.rs`: the same numbers as text, for smaller readers.
//!
//! Certificates are made by the crate `jlpns-certificate`: by the same pass ([`pass()`]), with moves that it finds.
//!
//! ```
//! use jlpns_verify::{Failure, Settings, check};
//!
//! let refused = check(&b"not a certificate"[..], &Settings::default(), &mut ());
//! assert!(matches!(refused, Err(Failure::Unreadable(_))));
//! ```
#![forbid(unsafe_code)]

/// Returns with a failure of a kind, and its sentence.
macro_rules! refuse {
    ($kind:ident, $($sentence:tt)*) => {
        return Err($crate::Failure::$kind(format!($($sentence)*)))
    };
}

mod blocks;
mod check;
pub mod command;
mod connect4;
mod header;
mod layer;
mod pass;
mod plain;
mod plan;
mod woodpush;

use std::fmt;
use std::num::NonZero;
use std::path::PathBuf;

pub use blocks::{Certificate, MOST_ENTRIES as MOST_IN_A_BLOCK};
pub use check::{Reader, check};
pub use header::{Claim, Header};
pub use pass::{Board, Boards, Moves, Pass, Place, pass};
pub use plain::Transcript;
pub use plan::MOST as MOST_OF_A_PLAN;

/// What a check may take of its machine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many threads play moves; one more reads the file.
    pub threads: NonZero<usize>,
    /// About how many bytes the positions take at most; what is more goes to `scratch`.
    pub memory: usize,
    /// The directory for positions that `memory` does not hold.
    pub scratch: PathBuf,
}

impl Default for Settings {
    /// All cores, 1 GiB, and the system's directory for temporary files.
    fn default() -> Settings {
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Settings { threads, memory: 1 << 30, scratch: std::env::temp_dir() }
    }
}

/// What was proved: everything that the header claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proved {
    /// The header, all claims of which hold.
    pub header: Header,
    /// How many numbers the file holds, one for each position with a move of the claimant.
    pub positions: u64,
    /// SHA-256 of the whole file, in hexadecimal.
    pub sha256: String,
}

impl fmt::Display for Proved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} positions", self.header.statement(), self.positions)
    }
}

/// Why nothing was proved. Each is a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The file can be read, but what it claims does not follow from it.
    #[error("{0}")]
    Fails(String),
    /// The file is no certificate, not one of this version, or damaged.
    #[error("{0}")]
    Unreadable(String),
    /// The machine failed, and says nothing of the file.
    #[error("{0}")]
    Trouble(String),
}
