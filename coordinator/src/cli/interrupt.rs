//! Ctrl-C and SIGTERM: the first asks a run to stop and to say what it has, the second ends the
//! process at once. Where stopping loses something, the first Ctrl-C only says so.
//!
//! Signals that follow within a second are the same one: `timeout` and batch systems send theirs to the process and
//! to its group.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::{Notify, watch};
use tracing::warn;

use super::terminal;

/// The exit code of a run that is ended at once: stopped unsolved.
const ABORTED: i32 = 3;

/// Signals that follow each other within this time are one.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// Whether the user has asked the run to stop.
#[derive(Clone, Debug)]
pub struct Interrupt {
    asked: Asked,
    /// Ctrl-C where that alone does not stop the run: kept until somebody answers it, so one that comes while nobody
    /// listens is not lost.
    pressed: Arc<Notify>,
    /// What the first Ctrl-C is answered with, if that alone does not stop the run.
    warning: Option<String>,
}

/// Since when the run is to stop, if it is.
#[derive(Clone, Debug, Default)]
struct Asked(Arc<watch::Sender<Option<Instant>>>);

impl Asked {
    fn since(&self) -> Option<Instant> {
        *self.0.borrow()
    }

    fn note(&self) {
        self.0.send_if_modified(|since| {
            let is_first = since.is_none();
            since.get_or_insert_with(Instant::now);
            is_first
        });
    }
}

impl Interrupt {
    /// Listens for the signals from here to the end of the process. With a warning, the first
    /// Ctrl-C shows only that; SIGTERM stops the run all the same.
    pub fn listen(warning: Option<String>) -> io::Result<Interrupt> {
        let asked = Asked::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let pressed = Arc::new(Notify::new());
        let (heard, press, warns) = (asked.clone(), pressed.clone(), warning.is_some());
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                match heard.since() {
                    Some(since) if since.elapsed() >= ONE_SIGNAL => {
                        terminal::clear_at_once();
                        std::process::exit(ABORTED)
                    }
                    Some(_) => {}
                    None if signal == SIGTERM || !warns => heard.note(),
                    None => press.notify_one(),
                }
            }
        })?;
        Ok(Interrupt { asked, pressed, warning })
    }

    /// The same for a run that has nothing to lose any more: the first Ctrl-C stops it.
    pub fn without_warning(&self) -> Interrupt {
        Interrupt { warning: None, ..self.clone() }
    }

    /// Is there when the run is to stop.
    pub fn asked(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        // The thread that listens tells all that stops the run at once, whenever it came.
        let mut told = self.asked.0.subscribe();
        let Interrupt { asked, pressed, mut warning } = self.clone();
        async move {
            let mut warned = None::<Instant>;
            loop {
                tokio::select! {
                    () = pressed.notified() => match warning.take() {
                        Some(warning) => {
                            warn!("{warning}");
                            warned = Some(Instant::now());
                        }
                        None if warned.is_some_and(|at| at.elapsed() < ONE_SIGNAL) => {}
                        None => break,
                    },
                    _ = told.wait_for(Option::is_some) => break,
                }
            }
            asked.note();
        }
    }

    /// Whether the run is to stop.
    pub fn is_asked(&self) -> bool {
        self.asked.since().is_some()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    fn warning_once() -> Interrupt {
        Interrupt {
            asked: Asked::default(),
            pressed: Arc::default(),
            warning: Some("this loses something".to_owned()),
        }
    }

    /// Whether the run is to stop by what has come so far.
    async fn is_to_stop(interrupt: &Interrupt) -> bool {
        timeout(Duration::ZERO, interrupt.asked()).await.is_ok()
    }

    #[tokio::test]
    async fn a_press_that_nobody_hears_is_kept_for_who_listens_next() {
        let interrupt = warning_once();
        assert!(!is_to_stop(&interrupt).await);
        interrupt.pressed.notify_one();
        assert!(is_to_stop(&interrupt.without_warning()).await);
        assert!(interrupt.is_asked());
    }

    #[tokio::test]
    async fn a_press_that_was_answered_with_the_warning_stops_nothing_later() {
        let interrupt = warning_once();
        interrupt.pressed.notify_one();
        assert!(!is_to_stop(&interrupt).await, "the warning is the answer");
        assert!(!is_to_stop(&interrupt.without_warning()).await);
        interrupt.pressed.notify_one();
        assert!(is_to_stop(&interrupt.without_warning()).await);
    }
}
