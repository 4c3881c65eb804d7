//! The shell of a queue: one coordinator with many solves, on the same workers.
//!
//! - [`driver`]: the task that owns the queue. Each solve that is open has a [`Driver`](crate::driver::Driver) of its own,
//!   as if it were the only one; the queue's driver gives it slots of each worker.
//! - `opening`: begins such a solve, in a directory of its own, and tells how it ended.
//! - `stream`: one worker's stream, which carries the messages of all solves.
//! - [`service`]: the gRPC services in front of it.
//! - [`words`]: entries as messages, and what is wrong with those that are submitted.
//! - `written`: the records of the queue as bytes.

pub mod driver;
mod followers;
pub mod opening;
pub mod service;
mod stream;
pub mod words;
mod written;
