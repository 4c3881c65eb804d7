//! Admission to a coordinator: which connections may do what, and how much unauthenticated connections may take.
//!
//! - [`Admission`]: the check of the shared token, the permits for workers, and the limits
//!   (`limits.rs`).
//! - [`connection_table`] and [`rate_limit`]: which connections stay open, and how often requests
//!   without the token are answered; both count by [`address_prefix`]. All pure.
//! - [`connection`]: one connection; [`transport`]: what goes through it, with or without TLS;
//!   [`incoming`]: the connections of a listener.
//! - [`check`]: the check in front of the services; [`tls`]: the server's certificate.

pub mod address_prefix;
pub mod check;
pub mod connection;
pub mod connection_table;
pub mod incoming;
mod limits;
pub mod rate_limit;
mod shown;
pub mod tls;
pub mod transport;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use connection::{Authentication, Connection, Supervised};
use connection_table::{ConnectionTable, Placement};
use http::{Extensions, HeaderMap};
use jlpns_link::token::Token;
pub use limits::Limits;
use rate_limit::{RateCheck, RateLimit};
pub use shown::shown;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tonic::Status;
use tracing::warn;

/// The requests that need no token: whether the server is alive is no secret.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// The rules of admission, and the connections that are open; see the crate's page.
pub struct Admission {
    token: Option<Token>,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    workers: Arc<Semaphore>,
    connections: Mutex<ConnectionTable<oneshot::Sender<()>>>,
    refusals: Mutex<Refusals>,
    began: Instant,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Admission");
        shown.field("token", &self.token).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The requests that were refused.
#[derive(Debug)]
struct Refusals {
    rate_limit: RateLimit,
    /// Those that are not in the log yet.
    not_logged: u64,
}

/// A worker's part of the limits; free again when dropped.
#[derive(Debug)]
pub struct WorkerPermit {
    _worker: OwnedSemaphorePermit,
    _stream: Option<OwnedSemaphorePermit>,
}

/// Nothing that is done under these locks can panic half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Admission {
    /// Admits requests that show `token`, if there is one, on connections as `tls` says.
    pub fn new(token: Option<Token>, tls: Option<TlsAcceptor>, limits: Limits) -> Admission {
        Admission {
            token,
            tls,
            limits,
            workers: Arc::new(Semaphore::new(limits.workers.min(Semaphore::MAX_PERMITS))),
            connections: Mutex::new(ConnectionTable::new(
                limits.unauthenticated,
                limits.connections,
            )),
            refusals: Mutex::new(Refusals {
                rate_limit: RateLimit::new(limits.per_prefix, limits.in_all),
                not_logged: 0,
            }),
            began: Instant::now(),
        }
    }

    /// Admits all requests, for connections from this process and from this machine.
    pub fn of_all() -> Admission {
        Admission::new(None, None, Limits::for_workers(Semaphore::MAX_PERMITS))
    }

    /// The limits that it keeps.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How connections are encrypted, if they are.
    pub fn tls(&self) -> Option<&TlsAcceptor> {
        self.tls.as_ref()
    }

    /// A connection was accepted. `None` if there is no place at all; then it ends here.
    pub fn admit<IO>(self: &Arc<Self>, io: IO, from: IpAddr) -> Option<Supervised<IO>> {
        let (end, eviction) = oneshot::channel();
        let inserted = lock(&self.connections).insert(from, end);
        match inserted {
            Placement::Placed(id, other) => {
                if let Some(other) = other {
                    // It may be gone already.
                    let _ = other.send(());
                }
                let connection = Connection::new(id, from, self.limits.streams);
                Some(Supervised::new(io, Arc::new(connection), self.clone(), eviction))
            }
            Placement::Full => {
                let most = self.limits.connections;
                self.refuse(from, &format!("all {most} connections are taken"));
                None
            }
        }
    }

    /// The TLS handshake of a connection has verified this certificate. False if the connection was
    /// evicted before.
    fn verified(&self, connection: &Connection, certificate: &[u8]) -> bool {
        if let Some(subject) = shown::subject(certificate) {
            connection.note_certificate(subject);
        }
        self.authenticate(connection).is_ok()
    }

    /// The TLS handshake of a connection has failed.
    fn handshake_failed(&self, connection: &Connection, error: &io::Error) {
        connection.set(Authentication::Answered);
        self.refuse(connection.from, &format!("its TLS handshake failed: {error}"));
    }

    /// Whether a request may pass: its connection, if that was admitted here, its path, and its head.
    /// The status says what would be right.
    pub fn check(
        &self,
        connection: Option<&Connection>,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Status> {
        let shown = match &self.token {
            Some(token) => token.is_shown(headers),
            // A request that has come this far has shown all that is asked for.
            None => Some(true),
        };
        // The right token is never held up by the rate limit: a flood must not keep workers out.
        if shown == Some(true) {
            return connection.map_or(Ok(()), |connection| self.authenticate(connection));
        }
        let Some(connection) = connection else { return Err(no_token(shown.is_some())) };
        let is_health = path.starts_with(HEALTH);
        let reason = match shown {
            None => "it shows no token",
            Some(_) => "it shows a wrong token",
        };
        if connection.authentication() == Authentication::Done {
            // Nor is a verified certificate, which is told each time what it lacks.
            if is_health {
                return Ok(());
            }
            self.refuse(connection.from, reason);
            return Err(no_token(shown.is_some()));
        }
        let verdict = if is_health {
            lock(&self.refusals).rate_limit.attempt(connection.from, self.began.elapsed())
        } else {
            self.refuse(connection.from, reason)
        };
        match verdict {
            RateCheck::Within => {
                connection.set(Authentication::Answered);
                if is_health { Ok(()) } else { Err(no_token(shown.is_some())) }
            }
            RateCheck::Exceeded(wait) => {
                connection.set(Authentication::Refused);
                Err(Status::resource_exhausted(format!(
                    "too many requests without the right token from {}; wait {} s",
                    connection.from,
                    wait.as_secs().saturating_add(1)
                )))
            }
        }
    }

    fn authenticate(&self, connection: &Connection) -> Result<(), Status> {
        if connection.authentication() == Authentication::Done {
            return Ok(());
        }
        let mut connections = lock(&self.connections);
        // Two requests of one connection may come here at once.
        if connection.authentication() == Authentication::Done {
            return Ok(());
        }
        if !connections.authenticate(connection.id) {
            return Err(Status::unavailable(
                "there are too many unauthenticated connections, and this one lost its place; come \
                 again",
            ));
        }
        connection.set(Authentication::Done);
        Ok(())
    }

    /// Counts a refusal, and says it in the log, but not for ever.
    fn refuse(&self, from: IpAddr, reason: &str) -> RateCheck {
        let mut refusals = lock(&self.refusals);
        let verdict = refusals.rate_limit.attempt(from, self.began.elapsed());
        match verdict {
            RateCheck::Within => match std::mem::take(&mut refusals.not_logged) {
                0 => warn!("{from} is refused: {reason}"),
                more => {
                    warn!("{from} is refused: {reason}; {more} refusals before it were not logged")
                }
            },
            RateCheck::Exceeded(_) => refusals.not_logged += 1,
        }
        verdict
    }

    /// A connection has ended.
    fn closed(&self, connection: &Connection) {
        // A connection is marked as authenticated under the same lock.
        let authentication = {
            let mut connections = lock(&self.connections);
            let authentication = connection.authentication();
            connections.remove(connection.id, authentication == Authentication::Done);
            authentication
        };
        if authentication == Authentication::Pending {
            let reason = match self.tls {
                Some(_) => "it left before it made a request",
                None => {
                    "it left before it made a request; it may speak TLS, which is not spoken here"
                }
            };
            self.refuse(connection.from, reason);
        }
    }

    /// A permit for a worker whose request has these extensions.
    pub fn worker_permit(&self, extensions: &Extensions) -> Result<WorkerPermit, Status> {
        let stream = match extensions.get::<Arc<Connection>>() {
            Some(connection) => {
                Some(connection.streams.clone().try_acquire_owned().map_err(|_| {
                    Status::resource_exhausted(format!(
                        "one connection carries at most {} workers' streams; open another one",
                        self.limits.streams
                    ))
                })?)
            }
            None => None,
        };
        let worker = self.workers.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "this coordinator takes at most {} workers (--max-workers), and has them; a place \
                 is free when one leaves",
                self.limits.workers
            ))
        })?;
        Ok(WorkerPermit { _worker: worker, _stream: stream })
    }
}

fn no_token(wrong: bool) -> Status {
    Status::unauthenticated(if wrong {
        "the token is not the one of this coordinator; give the file with the right one with \
         --token-file"
    } else {
        "this coordinator wants to see its token; give the file that holds it with --token-file"
    })
}

#[cfg(test)]
mod tests;
