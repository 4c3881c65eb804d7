//! How much there may be of what.

use std::time::Duration;

use super::rate_limit::Rate;

/// How much there may be of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Workers at a time.
    pub workers: usize,
    /// Workers' streams on one connection at a time.
    pub streams: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Unauthenticated connections at a time.
    pub unauthenticated: usize,
    /// How long a connection may stay unauthenticated.
    pub authentication_timeout: Duration,
    /// How often requests from an address prefix are refused before they are no longer read.
    pub per_prefix: Rate,
    /// The same for all of them together.
    pub in_all: Rate,
}

impl Limits {
    /// The limits for at most this many workers.
    pub fn for_workers(workers: usize) -> Limits {
        // Four for each address of a flood from 250, so that a fifth that comes from another address
        // is not the one that is evicted.
        let unauthenticated = 1024;
        Limits {
            workers,
            streams: 256,
            // Beside the workers: those that come back before their old connection is known to be
            // lost, and clients that ask for the status.
            connections: workers
                .saturating_mul(2)
                .saturating_add(256)
                .saturating_add(unauthenticated),
            unauthenticated,
            authentication_timeout: Duration::from_secs(10),
            per_prefix: Rate { burst: 20, per_second: 1.0 },
            in_all: Rate { burst: 200, per_second: 20.0 },
        }
    }

    /// The same, with no more connections than so many: then one is evicted where the system would give
    /// no more, which would keep out the worker that comes next.
    pub fn with_connections(self, most: usize) -> Limits {
        Limits { connections: self.connections.min(most), ..self }
    }
}
