//! Progress on stderr. On a terminal it is one line that is redrawn below the log; elsewhere it is a log line every five
//! seconds at first, and ever more rarely later.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tracing::info;

use super::terminal;

/// How often the line on a terminal is redrawn.
const REDRAW: Duration = Duration::from_millis(200);
/// How soon one log line follows another at the earliest.
const PLAIN: Duration = Duration::from_secs(5);
/// How long one log line follows another at the latest.
const RAREST: Duration = Duration::from_secs(60 * 60);
/// The share of the time so far that passes between log lines.
const SHARE: u32 = 10;
/// The time that a rate is of.
const WINDOW: Duration = Duration::from_secs(10);
/// How far apart what a rate is made of is noted.
const NOTED: Duration = Duration::from_millis(500);

/// The progress of one run.
#[derive(Clone, Debug)]
pub struct Progress {
    started: Instant,
    /// When the last line was shown, since the start.
    shown: Duration,
    recent: Recent,
}

impl Progress {
    /// Starts the clock.
    pub fn start() -> Progress {
        Progress { started: Instant::now(), shown: Duration::ZERO, recent: Recent::default() }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How often to look whether a line is due.
    pub fn looks(&self) -> Duration {
        if terminal::is_shown() { REDRAW } else { NOTED }
    }

    /// Notes how many there are of what is counted, and shows a line if the last one is old enough. The line is told
    /// how many came in a second, of the last ten.
    pub fn show_when_due(&mut self, count: u64, line: impl FnOnce(Duration, f64) -> String) {
        let now = self.elapsed();
        self.recent.note(now, count);
        if now.saturating_sub(self.shown) >= interval(now, terminal::is_shown()) {
            self.shown = now;
            let line = line(now, self.recent.rate(now, count));
            if terminal::is_shown() { terminal::show(line) } else { info!("{line}") }
        }
    }

    /// Takes the line off the terminal.
    pub fn finish(&self) {
        terminal::clear();
    }
}

/// How long after a line the next one is due, so long after the start.
fn interval(elapsed: Duration, is_terminal: bool) -> Duration {
    if is_terminal { REDRAW } else { (elapsed / SHARE).clamp(PLAIN, RAREST) }
}

/// How many there were of what is counted, in the last seconds.
#[derive(Clone, Debug, Default)]
struct Recent(VecDeque<(Duration, u64)>);

impl Recent {
    fn note(&mut self, now: Duration, count: u64) {
        // Another run has begun to count anew.
        if self.0.back().is_some_and(|&(_, last)| count < last) {
            self.0.clear();
        }
        if self.0.back().is_none_or(|&(at, _)| now.saturating_sub(at) >= NOTED) {
            self.0.push_back((now, count));
        }
        // The newest of those that are old enough is what the rate begins with.
        while self.0.get(1).is_some_and(|&(at, _)| now.saturating_sub(at) >= WINDOW) {
            self.0.pop_front();
        }
    }

    fn rate(&self, now: Duration, count: u64) -> f64 {
        let (since, before) = self.0.front().copied().unwrap_or_default();
        let seconds = now.saturating_sub(since).as_secs_f64();
        if seconds > 0.0 { count.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn log_lines_come_every_five_seconds_and_then_ever_more_rarely() {
        let mut at = Duration::ZERO;
        let mut gaps = Vec::new();
        while at < seconds(86_400) {
            let gap = interval(at, false);
            gaps.push(gap);
            at += gap;
        }
        assert!(gaps[..10].iter().all(|&gap| gap == seconds(5)), "{gaps:?}");
        assert!(gaps.is_sorted(), "{gaps:?}");
        assert_eq!(gaps.last(), Some(&seconds(3600)));
        assert!(gaps.len() < 100, "{} lines in a day", gaps.len());
        assert_eq!(interval(seconds(86_400), true), REDRAW);
    }

    #[test]
    fn a_rate_is_of_the_last_ten_seconds() {
        let mut recent = Recent::default();
        // A hundred a second for a minute, then ten a second.
        let count =
            |second: u64| if second <= 60 { second * 100 } else { 6000 + (second - 60) * 10 };
        for second in 0..=60 {
            recent.note(seconds(second), count(second));
        }
        assert_eq!(recent.rate(seconds(60), count(60)), 100.0);
        for second in 61..=70 {
            recent.note(seconds(second), count(second));
        }
        assert_eq!(recent.rate(seconds(70), count(70)), 10.0);
    }

    #[test]
    fn a_rate_of_what_is_counted_anew_begins_anew() {
        let mut recent = Recent::default();
        recent.note(seconds(0), 0);
        recent.note(seconds(5), 5000);
        recent.note(seconds(6), 10);
        recent.note(seconds(8), 50);
        assert_eq!(recent.rate(seconds(8), 50), 20.0);
    }
}
