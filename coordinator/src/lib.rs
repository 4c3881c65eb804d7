//! The coordinator of jlpns.
//!
//! - [`solve`]: the pure core: the top-level tree, the scheduler and its leases.
//! - [`driver`]: the task that owns a running solve.
//! - [`service`]: the gRPC service in front of it; [`serve`] puts it on a listener, and
//!   [`status`] words its state.
//! - [`door`]: who is let in: the token, TLS, and the limits; [`keys`] makes what a lab needs for
//!   both.
//! - [`embedded`]: coordinator and worker in one process.

pub mod door;
pub mod driver;
pub mod embedded;
pub mod keys;
pub mod serve;
pub mod service;
pub mod solve;
pub mod status;
