//! The coordinator's service and driver with the real solve behind them, over in-memory pipes and
//! loopback connections.
//!
//! - `stage`: a coordinator in this process, and streams to it that say what a test wants.
//! - `clusters`: whole solves with real workers; workers and networks that go away.
//! - `refusals`: each bad field of each message.
//! - `noise`: random bytes and random messages.

mod clusters;
mod noise;
mod refusals;
mod stage;
