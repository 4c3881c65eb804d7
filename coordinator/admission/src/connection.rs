//! One connection, from the moment it is accepted: what it has shown, and what reads and writes it.

use std::future::Future;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::transport::server::Connected;

use super::Admission;
use super::connection_table::ConnectionId;

/// How long a connection stays open after a refusal, so that the refusal is read.
const REFUSAL_READ: Duration = Duration::from_secs(1);

/// What a connection has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Authentication {
    /// Nothing yet.
    Pending,
    /// Nothing, and a request of it was answered without; why is in the log.
    Answered,
    /// Nothing, too often: nothing more is read of it.
    Refused,
    /// A certificate or the token.
    Done,
}

impl Authentication {
    fn from_bits(bits: u8) -> Authentication {
        match bits {
            0 => Authentication::Pending,
            1 => Authentication::Answered,
            2 => Authentication::Refused,
            _ => Authentication::Done,
        }
    }
}

/// A connection, as its requests know it.
#[derive(Debug)]
pub struct Connection {
    /// Its name in the connection table.
    pub id: ConnectionId,
    /// Where it comes from.
    pub from: IpAddr,
    /// Its permits for streams.
    pub streams: Arc<Semaphore>,
    /// The subject of the certificate that it has shown.
    certificate: OnceLock<String>,
    authentication: AtomicU8,
}

impl Connection {
    /// A new connection, which has shown nothing, with this many permits for streams.
    pub fn new(id: ConnectionId, from: IpAddr, streams: usize) -> Connection {
        Connection {
            id,
            from,
            streams: Arc::new(Semaphore::new(streams)),
            certificate: OnceLock::new(),
            authentication: AtomicU8::new(Authentication::Pending as u8),
        }
    }

    /// The subject of the certificate that it has shown, if it has shown one.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.get().map(String::as_str)
    }

    /// Notes the subject of the certificate that its TLS handshake has verified.
    pub(super) fn note_certificate(&self, subject: String) {
        // There is one handshake.
        let _ = self.certificate.set(subject);
    }

    /// What it has shown.
    pub fn authentication(&self) -> Authentication {
        Authentication::from_bits(self.authentication.load(Ordering::Acquire))
    }

    /// Notes what it has shown. What was authenticated once stays so; false if it was.
    pub(super) fn set(&self, authentication: Authentication) -> bool {
        let change = |now| (now != Authentication::Done as u8).then_some(authentication as u8);
        self.authentication.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }
}

/// The bytes of a connection, which ends by itself if it stays unauthenticated for too long, if it is
/// refused, or if it is evicted.
pub struct Supervised<IO> {
    io: IO,
    connection: Arc<Connection>,
    admission: Arc<Admission>,
    /// Tells of an eviction; nothing any more once its other end has spoken or is gone.
    eviction: Option<oneshot::Receiver<()>>,
    /// Whether its place went to another.
    is_evicted: bool,
    /// Until when it may stay unauthenticated.
    deadline: Pin<Box<Sleep>>,
    /// Whether the deadline is that of the last answer.
    is_leaving: bool,
}

impl<IO> Supervised<IO> {
    /// Supervises `io`; the holder of the other end of `eviction` may end it.
    pub(super) fn new(
        io: IO,
        connection: Arc<Connection>,
        admission: Arc<Admission>,
        eviction: oneshot::Receiver<()>,
    ) -> Supervised<IO> {
        let deadline = Instant::now() + admission.limits().authentication_timeout;
        let deadline = Box::pin(sleep_until(deadline));
        let eviction = Some(eviction);
        let (is_evicted, is_leaving) = (false, false);
        Supervised { io, connection, admission, eviction, is_evicted, deadline, is_leaving }
    }

    /// The connection that these are the bytes of.
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Ready when the connection is to end at once.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let authentication = self.connection.authentication();
        if authentication == Authentication::Done {
            return Poll::Pending;
        }
        // The other end goes a moment before a connection counts as authenticated.
        if let Some(eviction) = &mut self.eviction
            && let Poll::Ready(end) = Pin::new(eviction).poll(context)
        {
            self.eviction = None;
            self.is_evicted = end.is_ok();
        }
        if self.is_evicted {
            let reason = "the place of this unauthenticated connection went to another";
            return Poll::Ready(io::Error::new(io::ErrorKind::ConnectionAborted, reason));
        }
        if authentication == Authentication::Refused && !self.is_leaving {
            self.is_leaving = true;
            let soon = Instant::now() + REFUSAL_READ;
            let deadline = self.deadline.deadline().min(soon);
            self.deadline.as_mut().reset(deadline);
        }
        ready!(self.deadline.as_mut().poll(context));
        let reason = "this connection stayed unauthenticated for too long";
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, reason))
    }

    /// An error when the connection is to end at once.
    fn check_end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.poll_end(context) {
            Poll::Ready(error) => Err(error),
            Poll::Pending => Ok(()),
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Supervised<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_end(context)?;
        if self.connection.authentication() == Authentication::Refused {
            // The answer goes out, and however much more is asked waits in the network.
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

/// A peer that does not read is not waited for either.
impl<IO: AsyncWrite + Unpin> AsyncWrite for Supervised<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_end(context)?;
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_end(context)?;
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_end(context)?;
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_end(context)?;
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

impl<IO> Connected for Supervised<IO> {
    type ConnectInfo = Arc<Connection>;

    fn connect_info(&self) -> Arc<Connection> {
        self.connection.clone()
    }
}

impl<IO> Drop for Supervised<IO> {
    fn drop(&mut self) {
        self.admission.closed(&self.connection);
    }
}
