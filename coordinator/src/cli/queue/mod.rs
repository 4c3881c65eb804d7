//! The queue of a coordinator that was started with `jlpns serve --queue`.
//!
//! - `submit`: `jlpns submit`; `line` is how an entry is written in a line of a file, and `words` how a line has words.
//! - `show`: `jlpns queue`; `cancel`: `jlpns cancel`; `wait`: `jlpns wait`; `results`: `jlpns results`.
//! - `place`: where the coordinator is; `numbers`: which entries are meant.
//! - `remote`: what is asked of the queue; `follow`: entries told as they end, over connections that are made anew.
//! - `entry`: an entry as it is printed.

pub mod cancel;
mod entry;
mod follow;
mod line;
mod numbers;
mod place;
mod remote;
pub mod results;
pub mod show;
pub mod submit;
pub mod wait;
mod words;

use std::io;

use tokio::runtime::{Builder, Runtime};

/// What the connections of a command run on.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
