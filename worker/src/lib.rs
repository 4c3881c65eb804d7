//! The worker of jlpns: it keeps a connection to its coordinator, and its slots at work.
//!
//! - [`client`]: what keeps a worker connected to its coordinator.
//! - [`slots`]: the threads that run the searches of jobs.

pub mod client;
pub mod slots;
