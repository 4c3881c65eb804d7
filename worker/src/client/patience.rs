//! How long a worker waits for a coordinator of which nothing is heard.

use std::future::{Future, pending};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::WorkerError;

/// Time that ends unless the coordinator is heard of.
#[derive(Debug)]
pub struct Patience {
    after: Option<Duration>,
    heard: Instant,
    /// Whether its end has been told since the coordinator was heard of.
    told: bool,
}

impl Patience {
    /// So much from now on; `None` does not end.
    pub fn new(after: Option<Duration>) -> Patience {
        Patience { after, heard: Instant::now(), told: false }
    }

    /// The coordinator was heard of.
    pub fn renew(&mut self) {
        (self.heard, self.told) = (Instant::now(), false);
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.after.is_some_and(|after| self.heard.elapsed() >= after)
    }

    /// The same, said once.
    pub fn is_over_at_last(&mut self) -> bool {
        self.is_over() && !std::mem::replace(&mut self.told, true)
    }

    /// Waits until the time is over.
    pub fn ends(&self) -> impl Future<Output = ()> + use<> {
        // A time that is too long for the clock has no end.
        let end = self.after.and_then(|after| self.heard.checked_add(after));
        async move {
            match end {
                Some(end) => sleep_until(end).await,
                None => pending().await,
            }
        }
    }

    /// What the worker ends with then; the last attempt failed for this reason.
    pub fn given_up(&self, reason: String) -> WorkerError {
        WorkerError::GaveUp { after: self.after.unwrap_or_default(), reason }
    }
}
