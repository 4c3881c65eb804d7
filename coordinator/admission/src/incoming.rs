//! The connections of a listener that have a place in the connection table and, with TLS, have shaken
//! hands.
//!
//! The handshakes are done here and not in the server behind, because a connection is authenticated as
//! soon as its handshake has verified a certificate: long before its first request.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tracing::{debug, warn};

use super::Admission;
use super::transport::Transport;

/// How long to wait when the system gives no more connections, for want of file handles as a rule.
const PAUSE: Duration = Duration::from_millis(100);
/// How many failures in a row are one line in the log.
const ONE_LINE: u32 = 100;

/// The connections that a listener accepts, a place is found for, and whose handshakes succeed.
pub struct Incoming {
    listener: TcpListener,
    admission: Arc<Admission>,
    /// Each gives `None` if the handshake fails.
    handshakes: JoinSet<Option<Transport<TcpStream>>>,
    /// Until when nothing is accepted.
    pause: Option<Pin<Box<Sleep>>>,
    failures: u32,
}

impl Incoming {
    /// The connections that `listener` accepts and `admission` has a place for.
    pub fn new(listener: TcpListener, admission: Arc<Admission>) -> Incoming {
        let handshakes = JoinSet::new();
        Incoming { listener, admission, handshakes, pause: None, failures: 0 }
    }

    /// Ready with a connection whose handshake is done.
    fn poll_handshakes(&mut self, context: &mut Context<'_>) -> Poll<Transport<TcpStream>> {
        loop {
            match self.handshakes.poll_join_next(context) {
                Poll::Ready(Some(Ok(Some(transport)))) => return Poll::Ready(transport),
                // It failed, and that is in the log.
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Accepts the next connection, and begins its handshake if there is one to do.
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<Option<Transport<TcpStream>>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let (stream, peer) = match ready!(self.listener.poll_accept(context)).and_then(prepared) {
            Ok(accepted) => accepted,
            Err(error) => {
                self.failed(&error);
                return Poll::Ready(None);
            }
        };
        self.failures = 0;
        let Some(stream) = self.admission.admit(stream, peer.ip()) else {
            return Poll::Ready(None);
        };
        let Some(tls) = self.admission.tls() else {
            return Poll::Ready(Some(Transport::Plain(stream)));
        };
        let (tls, admission) = (tls.clone(), self.admission.clone());
        self.handshakes.spawn(async move {
            match tls.accept(stream).into_fallible().await {
                Ok(stream) => {
                    let connection = stream.get_ref().0.connection();
                    let verified = stream.get_ref().1.peer_certificates();
                    let keeps_place = match verified.and_then(|all| all.first()) {
                        Some(certificate) => admission.verified(connection, certificate),
                        None => true,
                    };
                    keeps_place.then(|| Transport::Tls(Box::new(stream)))
                }
                Err((error, stream)) => {
                    admission.handshake_failed(stream.connection(), &error);
                    None
                }
            }
        });
        Poll::Ready(None)
    }

    /// No reason to end the solve: the peer has gone, or it is our turn to wait.
    fn failed(&mut self, error: &io::Error) {
        if error.kind() == io::ErrorKind::NotConnected {
            debug!("a connection was gone at once: {error}");
            return;
        }
        if self.failures.is_multiple_of(ONE_LINE) {
            warn!("a connection could not be accepted: {error}");
        }
        self.failures += 1;
        self.pause = Some(Box::pin(sleep(PAUSE)));
    }
}

impl Stream for Incoming {
    type Item = io::Result<Transport<TcpStream>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Poll::Ready(transport) = this.poll_handshakes(context) {
                return Poll::Ready(Some(Ok(transport)));
            }
            if let Some(transport) = ready!(this.poll_accept(context)) {
                return Poll::Ready(Some(Ok(transport)));
            }
        }
    }
}

fn prepared((stream, peer): (TcpStream, SocketAddr)) -> io::Result<(TcpStream, SocketAddr)> {
    // Reports and leases are small and wait for each other: they must not wait for company.
    stream.set_nodelay(true).map_err(|error| io::Error::new(io::ErrorKind::NotConnected, error))?;
    Ok((stream, peer))
}
