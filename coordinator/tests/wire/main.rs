//! The coordinator's service and driver with the real solve behind them, over in-memory pipes and
//! loopback connections.
//!
//! - `stage`: a coordinator in this process, and streams to it that say what a test wants.
//! - `clusters`: whole solves with real workers; workers and networks that go away.
//! - `door`: tokens, certificates, floods of strangers, and limits.
//! - `refusals`: each bad field of each message.
//! - `sharing`: solved positions that travel from worker to worker.
//! - `noise`: random bytes and random messages.

mod clusters;
mod door;
mod noise;
mod refusals;
mod sharing;
mod stage;
