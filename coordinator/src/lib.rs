//! The coordinator of jlpns.
//!
//! - [`solve`]: the pure core: the top-level tree, the scheduler and its leases.
//! - [`driver`]: the task that owns a running solve.
//! - [`service`]: the gRPC service in front of it; [`serve`] puts it on a listener, and
//!   [`status`] words its state.
//! - [`journal`]: the durable store; [`recorder`] keeps a solve in it, and takes one up from it;
//!   [`written`] is what its records and snapshots look like.
//! - [`door`]: who is let in: the token, TLS, and the limits; [`keys`] makes what a lab needs for
//!   both.
//! - [`embedded`]: coordinator and worker in one process.
//! - [`simulate`]: a solve on virtual workers, in virtual time.

pub mod door;
pub mod driver;
pub mod embedded;
pub mod journal;
pub mod keys;
pub mod recorder;
pub mod serve;
pub mod service;
pub mod simulate;
pub mod solve;
pub mod status;
pub mod written;
