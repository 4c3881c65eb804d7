//! Ctrl-C and SIGTERM: the first asks a run to stop and to say what it has, the second ends the
//! process at once. Where stopping loses something, the first Ctrl-C only says so.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

/// The exit code of a run that is ended at once: stopped unsolved.
const ABORTED: i32 = 3;

/// Whether the user has asked the run to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    /// What the first Ctrl-C is answered with, if that alone does not stop the run.
    warning: Option<String>,
}

impl Interrupt {
    /// Listens for the signals from here to the end of the process. With a warning, the first
    /// Ctrl-C shows only that; SIGTERM stops the run all the same.
    pub fn listen(warning: Option<String>) -> io::Result<Interrupt> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset, and sets it.
            flag::register_conditional_shutdown(signal, ABORTED, Arc::clone(&asked))?;
            if signal == SIGTERM || warning.is_none() {
                flag::register(signal, Arc::clone(&asked))?;
            }
        }
        Ok(Interrupt { asked, warning })
    }

    /// Is there when the run is to stop. Must be called within a runtime.
    pub fn asked(&self) -> io::Result<impl Future<Output = ()> + Send + 'static + use<>> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // A signal from before these two lines is in the flag; one from after them reaches the streams.
        let asked_before = self.is_asked();
        let Interrupt { asked, mut warning } = self.clone();
        Ok(async move {
            if asked_before {
                return;
            }
            loop {
                tokio::select! {
                    _ = interrupt.recv() => match warning.take() {
                        Some(warning) => warn!("{warning}"),
                        None => break,
                    },
                    _ = terminate.recv() => break,
                }
            }
            asked.store(true, Ordering::Relaxed);
        })
    }

    /// Whether the run is to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
