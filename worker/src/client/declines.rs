//! Why leases are declined, said once for each reason.

use std::collections::BTreeSet;

use tracing::{debug, warn};

/// The most reasons that are remembered: each is a sentence, and there are few in practice.
const MOST_REASONS: usize = 64;

/// The reasons that were said.
#[derive(Debug, Default)]
pub struct DeclineReasons(BTreeSet<String>);

impl DeclineReasons {
    /// Says why a lease is declined, unless the same was said of another one.
    pub fn say(&mut self, lease: u64, reason: &str) {
        if self.0.len() < MOST_REASONS && self.0.insert(reason.to_owned()) {
            warn!(
                "lease {lease} declined: {reason}; further ones for the same reason are not told"
            );
        } else {
            debug!("lease {lease} declined: {reason}");
        }
    }
}
