//! The coordinator of jlpns.
//!
//! - [`solve`]: the pure core: the top-level tree, the scheduler and its leases.
//! - [`driver`]: the task that owns a running solve.
//! - [`service`]: the gRPC service in front of it; [`serve`] puts it on a listener, and
//!   [`status`] words its state.
//! - [`journal`]: the durable store of what was reported.
//! - [`embedded`]: coordinator and worker in one process.

pub mod driver;
pub mod embedded;
pub mod journal;
pub mod serve;
pub mod service;
pub mod solve;
pub mod status;
