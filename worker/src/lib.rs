//! The worker of jlpns: it keeps a connection to its coordinator, and its slots at work.
//!
//! - [`client`]: what keeps a worker connected to its coordinator.
//! - [`machine`]: what tells its machine from others.
//! - [`idle`]: whether its machine is idle.
//! - [`politeness`]: when it pauses, and when its time is over.
//! - [`until`]: until when it works.
//! - [`slots`]: the threads that run the searches of jobs.
//! - [`games_at_hand`]: the games whose tables are there, and how they share the memory.
//! - [`cli`]: the command line; [`systemd`]: the unit that runs the worker with the same flags.

pub mod cli;
pub mod client;
pub mod games_at_hand;
pub mod idle;
pub mod machine;
pub mod politeness;
pub mod slots;
pub mod systemd;
pub mod until;
