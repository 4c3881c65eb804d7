//! Ctrl-C and SIGTERM: the first asks a run to stop and to say what it has, the second ends the
//! process at once.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a run that is ended at once: stopped unsolved.
const ABORTED: i32 = 3;

/// Whether the user has asked the run to stop.
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for the signals from here to the end of the process.
    pub fn listen() -> io::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset, and sets it.
            flag::register_conditional_shutdown(signal, ABORTED, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Interrupt(asked))
    }

    /// Is there when a signal has come. Must be called within a runtime.
    pub fn asked(&self) -> io::Result<impl Future<Output = ()> + Send + 'static + use<>> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A signal from before these two lines is in the flag; one from after them reaches the streams.
        let asked_before = self.is_asked();
        Ok(async move {
            if asked_before {
                return;
            }
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }

    /// Whether a signal has come.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
