//! The progress of many hosts: a row each on a terminal, else lines of the log.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use tracing::info;

use super::super::terminal;

/// How often the rows are drawn at least.
const TICK: Duration = Duration::from_millis(200);

/// The rows of all hosts.
#[derive(Debug)]
pub struct Rows {
    shown: Option<Shown>,
    width: usize,
    all: usize,
    done: AtomicUsize,
    failed: AtomicUsize,
}

#[derive(Debug)]
struct Shown {
    rows: MultiProgress,
    /// All rows that there have been: one that is dropped before the end would stay on the terminal.
    bars: Mutex<Vec<ProgressBar>>,
    /// Below the rows: how many are done.
    sum: ProgressBar,
}

/// The row of one host.
#[derive(Debug)]
pub struct Row<'a> {
    rows: &'a Rows,
    host: String,
    bar: Option<ProgressBar>,
    last: Mutex<String>,
}

impl Rows {
    /// Rows for these hosts.
    pub fn new<'a>(hosts: impl ExactSizeIterator<Item = &'a str>) -> Rows {
        let all = hosts.len();
        let width = hosts.map(|host| host.chars().count()).max().unwrap_or(0);
        let shown = terminal::is_shown().then(|| {
            let rows = MultiProgress::new();
            let sum =
                rows.add(ProgressBar::new_spinner().with_style(style("{spinner} {wide_msg}")));
            // Drawings that follow each other closely are left out, and the last of them must show all the same.
            sum.enable_steady_tick(TICK);
            // The log goes above all of them.
            terminal::show_below(sum.clone());
            Shown { rows, bars: Mutex::default(), sum }
        });
        let rows =
            Rows { shown, width, all, done: AtomicUsize::new(0), failed: AtomicUsize::new(0) };
        rows.tell_sum();
        rows
    }

    /// The row of a host that is begun.
    pub fn begin(&self, host: &str) -> Row<'_> {
        let bar = self.shown.as_ref().map(|shown| {
            let width = self.width;
            // All of it is set before it is a row: until then it would draw itself.
            let bar = ProgressBar::new_spinner()
                .with_style(style("{spinner} {prefix} {wide_msg}"))
                .with_prefix(format!("{host:width$}"));
            let bar = shown.rows.insert_before(&shown.sum, bar);
            if let Ok(mut bars) = shown.bars.lock() {
                bars.push(bar.clone());
            }
            bar
        });
        let row = Row { rows: self, host: host.to_owned(), bar, last: Mutex::default() };
        row.tell("connecting");
        row
    }

    fn tell_sum(&self) {
        if let Some(shown) = &self.shown {
            let (done, failed) =
                (self.done.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
            shown
                .sum
                .set_message(format!("{done} of {} hosts done, {failed} of them failed", self.all));
            shown.sum.tick();
        }
    }

    /// Takes the rows off the terminal.
    pub fn clear(&self) {
        if let Some(shown) = &self.shown {
            shown.sum.disable_steady_tick();
            for bar in shown.bars.lock().iter().flat_map(|bars| bars.iter()) {
                bar.finish_and_clear();
            }
            terminal::clear();
            // A terminal that is gone has nothing to clear.
            let _ = shown.rows.clear();
        }
    }
}

impl Row<'_> {
    /// Tells a stage; the same again is not repeated.
    pub fn tell(&self, stage: &str) {
        {
            let Ok(mut last) = self.last.lock() else { return };
            if *last == stage {
                return;
            }
            stage.clone_into(&mut last);
        }
        match &self.bar {
            Some(bar) => {
                bar.set_message(stage.to_owned());
                bar.tick();
                self.rows.tell_sum();
            }
            None => info!("{}: {stage}", self.host),
        }
    }

    /// Tells how much of the worker has gone; not in the log, where each would be a line.
    pub fn tell_share(&self, sent: u64, all: u64) {
        if let Some(bar) = &self.bar
            && sent > 0
            && sent < all
        {
            bar.set_message(format!("copying the worker, {} %", sent * 100 / all));
            bar.tick();
        }
    }

    /// Tells what it came to.
    pub fn end(self, result: &str, has_failed: bool) {
        self.rows.done.fetch_add(1, Ordering::Relaxed);
        self.rows.failed.fetch_add(usize::from(has_failed), Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            // Nothing turns any more.
            bar.set_style(style("  {prefix} {wide_msg}"));
        }
        self.tell(result);
        self.rows.tell_sum();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
