//! Ctrl-C and SIGTERM: the first asks a run to stop and to say what it has, the second ends the
//! process at once. Where stopping loses something, the first Ctrl-C only says so.
//!
//! Signals that follow within a second are the same one: `timeout` and batch systems send theirs to the process and
//! to its group.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

/// The exit code of a run that is ended at once: stopped unsolved.
const ABORTED: i32 = 3;

/// Signals that follow each other within this time are one.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// Whether the user has asked the run to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    asked: Asked,
    /// What the first Ctrl-C is answered with, if that alone does not stop the run.
    warning: Option<String>,
}

/// Since when the run is to stop, if it is.
#[derive(Clone, Debug, Default)]
struct Asked(Arc<Mutex<Option<Instant>>>);

impl Asked {
    fn since(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
    }
}

impl Interrupt {
    /// Listens for the signals from here to the end of the process. With a warning, the first
    /// Ctrl-C shows only that; SIGTERM stops the run all the same.
    pub fn listen(warning: Option<String>) -> io::Result<Interrupt> {
        let asked = Asked::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let (heard, warns) = (asked.clone(), warning.is_some());
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                match heard.since() {
                    Some(since) if since.elapsed() >= ONE_SIGNAL => std::process::exit(ABORTED),
                    Some(_) => {}
                    None if signal == SIGTERM || !warns => heard.note(),
                    None => {}
                }
            }
        })?;
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
            let mut warned = None::<Instant>;
            loop {
                tokio::select! {
                    _ = interrupt.recv() => match warning.take() {
                        Some(warning) => {
                            warn!("{warning}");
                            warned = Some(Instant::now());
                        }
                        None if warned.is_some_and(|at| at.elapsed() < ONE_SIGNAL) => {}
                        None => break,
                    },
                    _ = terminate.recv() => break,
                }
            }
            asked.note();
        })
    }

    /// Whether the run is to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.since().is_some()
    }
}
