//! The terminal behind stderr: one line of progress, below the log and beside what goes to stdout. There is one
//! terminal for the whole process, so there is one line.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use jlpns_shell::layers::Setting;
use jlpns_shell::log::Log;

use super::CommandError;

/// The line, while there is one.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// How many writes to stdout and stderr are under way.
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// Whether there is a terminal that shows it.
static IS_SHOWN: OnceLock<bool> = OnceLock::new();

fn line() -> MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the log that the settings ask for, of a command that logs `usual` without them.
pub fn start_log(settings: &[Setting], usual: &str) -> Result<(), CommandError> {
    let log =
        Log::of(settings, usual).map_err(|error| CommandError::BadInput(error.to_string()))?;
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let _ = IS_SHOWN.set(io::stderr().is_terminal() && !is_dumb && !log.is_quiet());
    log.start(|| AboveTheLine);
    Ok(())
}

/// Whether progress is a line on a terminal.
pub fn is_shown() -> bool {
    IS_SHOWN.get().copied().unwrap_or(false)
}

/// Shows a line in the place of the last one, as much of it as the terminal is wide.
pub fn show(text: String) {
    let mut line = line();
    let bar = line.get_or_insert_with(|| {
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        let bar = ProgressBar::new_spinner();
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
    });
    bar.set_message(text);
    bar.tick();
}

/// Shows a line that is the last of several: what is logged goes above all of them.
pub fn show_below(last: ProgressBar) {
    *line() = Some(last);
}

/// Takes the line off the terminal.
pub fn clear() {
    if let Some(bar) = line().take() {
        bar.finish_and_clear();
    }
}

/// The same of a process that is about to end: where a write is under way, perhaps for ever because nobody reads, the
/// line stays.
pub fn clear_at_once() {
    if WRITES.load(Ordering::SeqCst) == 0
        && let Ok(mut line) = LINE.try_lock()
        && let Some(bar) = line.take()
    {
        bar.finish_and_clear();
    }
}

/// Does something while the line is off the terminal.
pub fn without_line<T>(write: impl FnOnce() -> T) -> T {
    // A write may take as long as a reader likes: meanwhile the line is not held.
    let bar = line().clone();
    WRITES.fetch_add(1, Ordering::SeqCst);
    let written = match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    };
    WRITES.fetch_sub(1, Ordering::SeqCst);
    written
}

/// Writes to stderr, above the line.
#[derive(Clone, Copy, Debug)]
struct AboveTheLine;

impl Write for AboveTheLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        without_line(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
