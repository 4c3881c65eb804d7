//! Signals to processes, and the proof that they were felt.

use std::fs;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use super::watch::soon;
use crate::Running;

/// Sends a signal; whether there was a process with this id to send it to.
pub fn send(id: u32, signal: Signal) -> bool {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(id, signal).is_ok()
}

impl Running {
    /// Sends a signal. One to a process that has just ended is lost.
    pub fn signal(&self, signal: Signal) {
        // It may have ended by itself, and is not reaped before this value is gone.
        send(self.id(), signal);
    }

    /// Stops the process as Ctrl-Z does, and waits until the system says that it stands still;
    /// false if it has ended instead.
    pub fn freeze(&self) -> bool {
        self.signal(Signal::STOP);
        soon("a process stops", || match self.state() {
            'T' => Some(true),
            'Z' | 'X' => Some(false),
            _ => None,
        })
    }

    /// Lets a stopped process go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// The state of the process, in the letters of `/proc`: R and S are alive, T is stopped, Z has
    /// ended.
    pub fn state(&self) -> char {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap_or_default();
        // The name before it is in parentheses, and may hold any character.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        state.unwrap_or('X')
    }
}
