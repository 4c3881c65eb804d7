//! The door of a coordinator: who is let in, and how much room strangers get.
//!
//! - [`Door`]: the check of the shared token, the places for workers, and the limits.
//! - [`strangers`] and [`room`]: how often strangers are listened to, and how many of their
//!   connections stay open. Both pure.
//! - [`visitor`]: one connection; [`incoming`]: the connections of a listener.
//! - [`check`]: the check in front of the services; [`tls`]: the server's certificate.

pub mod check;
pub mod incoming;
pub mod room;
mod shown;
pub use shown::shown;
pub mod strangers;
pub mod tls;
pub mod visitor;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Extensions, HeaderMap};
use jlpns_link::token::Token;
use room::{Entrance, Room};
use strangers::{Hearing, Rate, Strangers};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::Instant;
use tonic::Status;
use tonic::transport::ServerTlsConfig;
use tracing::warn;
use visitor::{Guarded, Standing, Visitor};

/// The requests that strangers may make: whether the server is alive is no secret.
const HEALTH: &str = "/grpc.health.v1.Health/";

/// How much there may be of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Workers at a time.
    pub workers: usize,
    /// Workers' streams on one connection at a time.
    pub streams: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Connections at a time that have not shown that they belong.
    pub strangers: usize,
    /// How long a connection may take to show it.
    pub patience: Duration,
    /// How often an address may be refused before it is no longer listened to.
    pub each: Rate,
    /// The same for all addresses together.
    pub all: Rate,
}

impl Limits {
    /// The limits for at most this many workers.
    pub fn for_workers(workers: usize) -> Limits {
        Limits {
            workers,
            streams: 256,
            // Beside the workers: those that come back before their old connection is known to be
            // lost, and whoever asks for the status.
            connections: workers.saturating_mul(2).saturating_add(256),
            strangers: 128,
            patience: Duration::from_secs(10),
            each: Rate { burst: 20, per_second: 1.0 },
            all: Rate { burst: 200, per_second: 20.0 },
        }
    }
}

/// How a coordinator is guarded; see the module's page.
#[derive(Debug)]
pub struct Door {
    token: Option<Token>,
    tls: Option<ServerTlsConfig>,
    limits: Limits,
    seats: Arc<Semaphore>,
    room: Mutex<Room<oneshot::Sender<()>>>,
    register: Mutex<Register>,
    began: Instant,
}

/// What is remembered of strangers.
#[derive(Debug)]
struct Register {
    strangers: Strangers,
    /// Refusals that are not in the log yet.
    unsaid: u64,
}

/// A worker's place; free again when dropped.
#[derive(Debug)]
pub struct Seat {
    _worker: OwnedSemaphorePermit,
    _stream: Option<OwnedSemaphorePermit>,
}

/// Nothing that is done under these locks can panic half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Door {
    /// A door that wants to see `token`, if there is one, on connections as `tls` says.
    pub fn new(token: Option<Token>, tls: Option<ServerTlsConfig>, limits: Limits) -> Door {
        Door {
            token,
            tls,
            limits,
            seats: Arc::new(Semaphore::new(limits.workers.min(Semaphore::MAX_PERMITS))),
            room: Mutex::new(Room::new(limits.strangers, limits.connections)),
            register: Mutex::new(Register {
                strangers: Strangers::new(limits.each, limits.all),
                unsaid: 0,
            }),
            began: Instant::now(),
        }
    }

    /// A door through which everybody may go, for connections from this process and from this
    /// machine.
    pub fn open() -> Door {
        Door::new(None, None, Limits::for_workers(Semaphore::MAX_PERMITS))
    }

    /// The limits that it keeps.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How connections are encrypted, if they are.
    pub fn tls(&self) -> Option<&ServerTlsConfig> {
        self.tls.as_ref()
    }

    /// Somebody has connected. `None` if there is no place at all; then the connection ends here.
    pub fn admit<IO>(self: &Arc<Self>, io: IO, from: IpAddr) -> Option<Guarded<IO>> {
        let (end, evicted) = oneshot::channel();
        let entrance = lock(&self.room).enter(from, end);
        match entrance {
            Entrance::In(id, other) => {
                if let Some(other) = other {
                    // It may be gone already.
                    let _ = other.send(());
                }
                let visitor = Visitor::new(id, from, self.limits.streams);
                Some(Guarded::new(io, Arc::new(visitor), self.clone(), evicted))
            }
            Entrance::Full => {
                let most = self.limits.connections;
                self.refuse(from, &format!("all {most} connections are taken"));
                None
            }
        }
    }

    /// Whether a request may pass: its connection, if that came through this door, its path, and
    /// its head. The status says what would be right.
    pub fn check(
        &self,
        visitor: Option<&Visitor>,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), Status> {
        let shown = match &self.token {
            Some(token) => token.is_shown(headers),
            // Whoever has come this far has shown all that is asked for.
            None => Some(true),
        };
        // The right token is let in whatever others do: a flood must not keep friends out.
        if shown == Some(true) {
            return visitor.map_or(Ok(()), |visitor| self.befriend(visitor));
        }
        let Some(visitor) = visitor else { return Err(no_token(shown.is_some())) };
        let healthy = path.starts_with(HEALTH);
        let reason = match shown {
            None => "it shows no token",
            Some(_) => "it shows a wrong token",
        };
        let hearing = if healthy {
            lock(&self.register).strangers.attempt(visitor.from, self.began.elapsed())
        } else {
            self.refuse(visitor.from, reason)
        };
        match hearing {
            Hearing::Heard => {
                visitor.set(Standing::Answered);
                if healthy { Ok(()) } else { Err(no_token(shown.is_some())) }
            }
            Hearing::TooMany(wait) => {
                visitor.set(Standing::Refused);
                Err(Status::resource_exhausted(format!(
                    "too many requests without the right token from {}; wait {} s",
                    visitor.from,
                    wait.as_secs().saturating_add(1)
                )))
            }
        }
    }

    fn befriend(&self, visitor: &Visitor) -> Result<(), Status> {
        if visitor.standing() == Standing::Friend {
            return Ok(());
        }
        let mut room = lock(&self.room);
        // Two requests of one connection may come here at once.
        if visitor.standing() == Standing::Friend {
            return Ok(());
        }
        if !room.befriend(visitor.id) {
            return Err(Status::unavailable(
                "too many strangers are at the door, and one took this place; come again",
            ));
        }
        visitor.set(Standing::Friend);
        Ok(())
    }

    /// Notes that somebody was refused, and says so in the log, but not for ever.
    fn refuse(&self, from: IpAddr, reason: &str) -> Hearing {
        let mut register = lock(&self.register);
        let hearing = register.strangers.attempt(from, self.began.elapsed());
        match hearing {
            Hearing::Heard => match std::mem::take(&mut register.unsaid) {
                0 => warn!("{from} is refused: {reason}"),
                more => {
                    warn!("{from} is refused: {reason}; {more} refusals before it were not logged")
                }
            },
            Hearing::TooMany(_) => register.unsaid += 1,
        }
        hearing
    }

    /// A connection has ended.
    fn see_off(&self, visitor: &Visitor) {
        // Who is about to become a friend does so under the same lock.
        let standing = {
            let mut room = lock(&self.room);
            let standing = visitor.standing();
            room.leave(visitor.id, standing == Standing::Friend);
            standing
        };
        if standing == Standing::Stranger {
            let reason = match self.tls {
                Some(_) => {
                    "it left before it made a request; it may not speak TLS, or one side does not \
                     trust the other's certificate"
                }
                None => {
                    "it left before it made a request; it may speak TLS, and this door does not"
                }
            };
            self.refuse(visitor.from, reason);
        }
    }

    /// A place for a worker whose request has these extensions.
    pub fn seat(&self, extensions: &Extensions) -> Result<Seat, Status> {
        let stream = match extensions.get::<Arc<Visitor>>() {
            Some(visitor) => Some(visitor.streams.clone().try_acquire_owned().map_err(|_| {
                Status::resource_exhausted(format!(
                    "one connection carries at most {} workers' streams; open another one",
                    self.limits.streams
                ))
            })?),
            None => None,
        };
        let worker = self.seats.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "this coordinator takes at most {} workers (--max-workers), and has them; a place \
                 is free when one leaves",
                self.limits.workers
            ))
        })?;
        Ok(Seat { _worker: worker, _stream: stream })
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
