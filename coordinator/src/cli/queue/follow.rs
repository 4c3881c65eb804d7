//! Entries told as they end. A connection that is lost is made anew: the coordinator may have been started again.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::pending;
use std::time::{Duration, Instant};

use jlpns_proto::v1::QueueEntry;
use tokio::time::sleep;
use tracing::warn;

use super::super::interrupt::Interrupt;
use super::super::output::grouped;
use super::super::progress::Progress;
use super::super::{CommandError, values};
use super::entry::known_state;
use super::remote::{RETRY, RemoteQueue, told};

/// How long is waited, and for what.
#[derive(Debug, clap::Args)]
pub struct PatienceFlags {
    /// Give up when the coordinator could not be reached for so long, after it was reached once
    #[arg(long, value_name = "DURATION", default_value = "10m", env = "JLPNS_GIVE_UP_AFTER")]
    #[arg(value_parser = values::duration)]
    give_up_after: Duration,

    /// Wait no longer than this; the exit code is then 3
    #[arg(long, value_name = "DURATION", env = "JLPNS_TIMEOUT", value_parser = values::duration)]
    timeout: Option<Duration>,
}

impl PatienceFlags {
    /// Hands out each of the entries as it ends. Whether all of them have ended: not if the time was over or the user
    /// has stopped it. Must be called within a runtime.
    pub async fn follow(
        &self,
        queue: &RemoteQueue,
        numbers: BTreeSet<u64>,
        mut take: impl FnMut(QueueEntry) -> Result<(), CommandError>,
    ) -> Result<bool, CommandError> {
        let (total, ended) = (numbers.len() as u64, Cell::new(0_u64));
        let interrupt = Interrupt::listen(None)?;
        let asked = interrupt.asked();
        let mut progress = Progress::start();
        let all_ended = until_ended(queue, numbers, self.give_up_after, |entry| {
            ended.set(ended.get() + 1);
            take(entry)
        });
        let has_ended = tokio::select! {
            result = all_ended => result.map(|()| true),
            () = show(&mut progress, &ended, total) => Ok(false),
            () = asked => Ok(false),
            () = over(self.timeout) => Ok(false),
        };
        progress.finish();
        has_ended
    }
}

/// Is there when so much time is over.
async fn over(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => pending().await,
    }
}

/// Shows how many have ended, for as long as somebody waits.
async fn show(progress: &mut Progress, ended: &Cell<u64>, total: u64) {
    loop {
        sleep(progress.looks()).await;
        let count = ended.get();
        progress.show_when_due(count, |elapsed, _| {
            let (count, total, seconds) = (grouped(count), grouped(total), elapsed.as_secs());
            format!("{seconds} s, {count} of {total} entries have ended")
        });
    }
}

async fn until_ended(
    queue: &RemoteQueue,
    mut open: BTreeSet<u64>,
    give_up_after: Duration,
    mut take: impl FnMut(QueueEntry) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    // Since when there is no connection.
    let mut lost = Instant::now();
    let mut is_told = false;
    while !open.is_empty() {
        let mut failure = None;
        let followed = queue.follow(&open).await;
        match followed {
            Ok(mut entries) => {
                is_told = false;
                while !open.is_empty() && failure.is_none() {
                    match entries.next().await {
                        Ok(Some(entry)) => {
                            let has_ended = known_state(entry.state)?.has_ended();
                            if has_ended && open.remove(&entry.number) {
                                take(entry)?;
                            }
                        }
                        // A coordinator that is about to stop ends what it sends.
                        Ok(None) => break,
                        Err(error) => failure = Some(error),
                    }
                }
                lost = Instant::now();
            }
            Err(error) => failure = Some(error),
        }
        if open.is_empty() {
            break;
        }
        if let Some(error) = failure {
            if !error.may_pass() || lost.elapsed() >= give_up_after {
                return Err(told(error));
            }
            if !is_told {
                warn!("{error}; the connection is made anew");
                is_told = true;
            }
        }
        sleep(RETRY).await;
    }
    Ok(())
}
