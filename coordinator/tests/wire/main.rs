//! The coordinator's service and driver with the real solve behind them, over in-memory pipes and
//! loopback connections.
//!
//! - `stage`: a coordinator in this process, and streams to it that say what a test wants.
//! - `clusters`: whole solves with real workers; workers and networks that go away.
//! - `admission`: tokens, certificates, floods of unauthenticated requests, and limits; `flood`: floods
//!   of connections that say nothing.
//! - `refusals`: each bad field of each message.
//! - `sharing`: solved positions that travel from worker to worker.
//! - `noise`: random bytes and random messages.
//! - `queue`: many solves on one stream.

mod admission;
mod clusters;
mod flood;
mod noise;
mod queue;
mod refusals;
mod sharing;
mod stage;
