//! Progress and log lines on stderr. On a terminal, progress is one line that is redrawn below the
//! log; elsewhere it is a log line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tracing::info;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How often the line on a terminal is redrawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How often a log line is written elsewhere.
const PLAIN: Duration = Duration::from_secs(5);

/// The progress of one run; clones show the same line.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    shown: Instant,
}

impl Progress {
    /// Starts the clock and the log. `JLPNS_LOG` says what is logged (such as `warn` or
    /// `jlpns_coordinator=debug`); `usual` is logged without it.
    pub fn start(usual: &str) -> Progress {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.with_style(ProgressStyle::default_spinner())
        });
        let filter = EnvFilter::try_from_env("JLPNS_LOG");
        let log = tracing_subscriber::fmt()
            .with_writer(AboveTheBar(bar.clone()))
            .with_ansi(bar.is_some())
            .with_target(false)
            .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new(usual)));
        // There is one already only if a process starts two runs; it goes on then.
        let _ = log.try_init();
        let now = Instant::now();
        Progress { bar, started: now, shown: now }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long a line stays before the next one is due.
    pub fn interval(&self) -> Duration {
        if self.bar.is_some() { REDRAW } else { PLAIN }
    }

    /// Shows a line, if the last one is old enough.
    pub fn show_when_due(&mut self, line: impl FnOnce(Duration) -> String) {
        if self.shown.elapsed() >= self.interval() {
            self.shown = Instant::now();
            self.show(line(self.elapsed()));
        }
    }

    /// Shows a line.
    pub fn show(&self, line: String) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => info!("{line}"),
        }
    }

    /// Takes the line off the terminal.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes to stderr, and takes the progress line away for as long.
#[derive(Clone, Debug)]
struct AboveTheBar(Option<ProgressBar>);

impl MakeWriter<'_> for AboveTheBar {
    type Writer = AboveTheBar;

    fn make_writer(&self) -> AboveTheBar {
        self.clone()
    }
}

impl Write for AboveTheBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(bar) => bar.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
