//! The coordinator of jlpns: the shell around the pure core `jlpns-solve`.
//!
//! - [`driver`]: the task that owns a running solve.
//! - [`service`]: the gRPC service in front of it; [`serve`] puts it on a listener, and
//!   [`status`] words its state.
//! - [`recorder`] keeps a solve in its journal, and takes one up from it; [`written`] is what its
//!   records and snapshots look like.
//! - [`proofs`] keeps the certificates of jobs, once they are checked.
//! - [`embedded`]: coordinator and worker in one process.
//! - [`many`]: many positions at once, without jobs.
//! - [`queue`]: many solves on the same workers.
//! - [`cli`]: the command line.

pub mod cli;
pub mod driver;
pub mod embedded;
mod incoming_certificates;
pub mod many;
pub mod proofs;
pub mod queue;
pub mod recorder;
pub mod serve;
pub mod service;
pub mod status;
pub mod written;
