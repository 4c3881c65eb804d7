//! The worker of jlpns: it keeps a connection to its coordinator, and its slots at work.
//!
//! - [`client`]: what keeps a worker connected to its coordinator.
//! - [`machine`]: what tells its machine from others.
//! - [`slots`]: the threads that run the searches of jobs.
//! - [`cli`]: the command line; [`systemd`]: the unit that runs the worker with the same flags.

pub mod cli;
pub mod client;
pub mod machine;
pub mod slots;
pub mod systemd;
