//! When a worker on other people's machine pauses, and when its time is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::{Timestamp, Zoned};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

use crate::client::Wanted;
use crate::idle::seen::Lookout;
use crate::idle::{IdleRule, LOOK_EVERY};
use crate::until::Until;

/// The flags that say when a worker is to be in nobody's way.
#[derive(Args, Clone, Debug)]
pub struct PolitenessFlags {
    /// Pause while somebody is logged in here, at the console or over the network, or while other
    /// programs have work for the processor (niced ones do not count)
    #[arg(long, env = "JLPNS_ONLY_WHEN_IDLE")]
    only_when_idle: bool,

    /// With --only-when-idle: how much of the machine other programs may take
    #[arg(long, value_name = "PERCENT", default_value = "25%", env = "JLPNS_BUSY_ABOVE")]
    #[arg(value_parser = percent, allow_hyphen_values = true)]
    busy_above: f64,

    /// With --only-when-idle: how long the machine must have been idle before a pause ends
    #[arg(long, value_name = "DURATION", default_value = "1m", env = "JLPNS_IDLE_FOR")]
    #[arg(value_parser = crate::cli::duration, allow_hyphen_values = true)]
    idle_for: Duration,

    /// Drain and end at this time, such as 07:30, or 2030-01-31T07:30, by this machine's clock
    #[arg(long, value_name = "TIME", env = "JLPNS_UNTIL", allow_hyphen_values = true)]
    until: Option<Until>,
}

/// A share of the machine.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let number = number.filter(|percent| (0.0..=100.0).contains(percent));
    number
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "write a share from 0% to 100%, such as 25%".to_owned())
}

impl PolitenessFlags {
    /// What they ask for, as of now. The error is a sentence about --until.
    pub fn begin(&self, now: &Zoned) -> Result<Politeness, String> {
        let end = |until: &Until| Ok::<_, String>((until.after(now)?, until.reason()));
        let until = self.until.as_ref().map(end);
        let idle = self.only_when_idle.then(|| IdleRule::new(self.busy_above, self.idle_for));
        Ok(Politeness { until: until.transpose()?, idle })
    }
}

/// When a worker is to be in nobody's way.
#[derive(Clone, Debug)]
pub struct Politeness {
    /// When its time ends, and what to say then.
    until: Option<(Timestamp, String)>,
    idle: Option<IdleRule>,
}

impl Politeness {
    /// Asks the worker to pause, to go on and to drain when it is time, until nobody listens.
    pub async fn keep(mut self, ask: Arc<watch::Sender<Wanted>>) {
        if self.until.is_none() && self.idle.is_none() {
            return;
        }
        if let Some((end, _)) = &self.until {
            let end = end.to_zoned(jiff::tz::TimeZone::system());
            info!("this worker ends at {}", end.strftime("%Y-%m-%d %H:%M:%S %Z"));
        }
        let mut lookout = Lookout::new();
        if self.idle.is_some() && !lookout.tells_who_is_logged_in() {
            warn!(
                "this system does not tell who is logged in: --only-when-idle goes by what other \
                 programs take of the processor alone"
            );
        }
        let begun = Instant::now();
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !ask.is_closed() {
            looks.tick().await;
            // The clock on the wall goes on while a machine sleeps, and may be set.
            if let Some((end, reason)) = &self.until
                && Timestamp::now() >= *end
            {
                ask.send_if_modified(|wanted| wanted.change_to(Wanted::Drain(reason.clone())));
                return;
            }
            if let Some(rule) = &mut self.idle {
                let pause = rule.look(begun.elapsed(), &lookout.look());
                let wanted = pause.map_or(Wanted::Work, Wanted::Pause);
                ask.send_if_modified(|now| now.change_to(wanted));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    fn flags(args: &[&str]) -> Result<PolitenessFlags, String> {
        let command = PolitenessFlags::augment_args(Command::new("w").no_binary_name(true));
        let matches = command.try_get_matches_from(args).map_err(|error| error.to_string())?;
        PolitenessFlags::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    #[test]
    fn shares_are_of_a_hundred() {
        assert_eq!(flags(&[]).map(|flags| flags.busy_above), Ok(0.25));
        for (text, share) in [("0", 0.0), ("50%", 0.5), ("100 %", 1.0), ("12.5", 0.125)] {
            assert_eq!(flags(&["--busy-above", text]).map(|flags| flags.busy_above), Ok(share));
        }
        for bad in ["-1", "101", "much", "", "NaN"] {
            let error = flags(&["--busy-above", bad]).expect_err(bad);
            assert!(error.contains("such as 25%"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_worker_whose_time_is_over_drains() {
        let flags = flags(&["--until", "2026-03-02T07:30"]).expect("flags");
        // As it was asked for on the evening before.
        let asked: Zoned = "2026-03-01T20:00:00+00:00[UTC]".parse().expect("a time");
        let (ask, wanted) = watch::channel(Wanted::Work);
        flags.begin(&asked).expect("a time to come").keep(Arc::new(ask)).await;
        let reason = "it is 2026-03-02T07:30, the time that --until names".to_owned();
        assert_eq!(*wanted.borrow(), Wanted::Drain(reason));
        let late: Zoned = "2026-03-03T20:00:00+00:00[UTC]".parse().expect("a time");
        assert!(flags.begin(&late).expect_err("over").contains("is over"));
    }
}
