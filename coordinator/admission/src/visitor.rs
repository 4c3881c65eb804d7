//! One connection, from the moment it is accepted: who it is by now, and what reads it.

use std::future::Future;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::transport::server::Connected;

use super::Door;
use super::room::ConnectionId;

/// How long a connection stays open after a refusal, so that the refusal is read.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Who is at the other end, as far as it has been shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Standing {
    /// Nothing has been shown.
    Stranger,
    /// It was answered as strangers are, and why it is none of us is in the log.
    Answered,
    /// It was told to go, and nothing more is read of it.
    Refused,
    /// It belongs.
    Friend,
}

impl Standing {
    fn from_bits(bits: u8) -> Standing {
        match bits {
            0 => Standing::Stranger,
            1 => Standing::Answered,
            2 => Standing::Refused,
            _ => Standing::Friend,
        }
    }
}

/// A connection, as its requests know it.
#[derive(Debug)]
pub struct Visitor {
    /// Its name in the room.
    pub id: ConnectionId,
    /// Where it comes from.
    pub from: IpAddr,
    /// Its places for streams.
    pub streams: Arc<Semaphore>,
    standing: AtomicU8,
}

impl Visitor {
    /// A new connection: a stranger, with this many places for streams.
    pub fn new(id: ConnectionId, from: IpAddr, streams: usize) -> Visitor {
        let streams = Arc::new(Semaphore::new(streams));
        Visitor { id, from, streams, standing: AtomicU8::new(Standing::Stranger as u8) }
    }

    /// Who it is by now.
    pub fn standing(&self) -> Standing {
        Standing::from_bits(self.standing.load(Ordering::Acquire))
    }

    /// Notes who it is. A friend stays one; false if it was one before.
    pub fn set(&self, standing: Standing) -> bool {
        let change = |now| (now != Standing::Friend as u8).then_some(standing as u8);
        self.standing.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).is_ok()
    }
}

/// A connection that ends by itself if its visitor is a stranger for too long, if it is told to
/// go, or if its place goes to another.
pub struct Guarded<IO> {
    io: IO,
    visitor: Arc<Visitor>,
    door: Arc<Door>,
    /// Tells of an eviction; nothing any more once its other end has spoken or is gone.
    evicted: Option<oneshot::Receiver<()>>,
    /// Whether its place went to another.
    is_evicted: bool,
    /// Until when a stranger may stay.
    deadline: Pin<Box<Sleep>>,
    /// Whether the deadline is that of the last words.
    leaving: bool,
}

impl<IO> Guarded<IO> {
    /// Puts a guard on `io`; whoever holds the other end of `evicted` may end it.
    pub fn new(
        io: IO,
        visitor: Arc<Visitor>,
        door: Arc<Door>,
        evicted: oneshot::Receiver<()>,
    ) -> Guarded<IO> {
        let deadline = Box::pin(sleep_until(Instant::now() + door.limits().patience));
        let evicted = Some(evicted);
        Guarded { io, visitor, door, evicted, is_evicted: false, deadline, leaving: false }
    }

    /// Ready when the connection is to end at once.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let standing = self.visitor.standing();
        if standing == Standing::Friend {
            return Poll::Pending;
        }
        // The other end goes a moment before a stranger counts as a friend.
        if let Some(evicted) = &mut self.evicted
            && let Poll::Ready(end) = Pin::new(evicted).poll(context)
        {
            self.evicted = None;
            self.is_evicted = end.is_ok();
        }
        if self.is_evicted {
            let reason = "the place of this stranger went to another";
            return Poll::Ready(io::Error::new(io::ErrorKind::ConnectionAborted, reason));
        }
        if standing == Standing::Refused && !self.leaving {
            self.leaving = true;
            let soon = Instant::now() + LAST_WORDS;
            let deadline = self.deadline.deadline().min(soon);
            self.deadline.as_mut().reset(deadline);
        }
        ready!(self.deadline.as_mut().poll(context));
        let reason = "a stranger stayed for too long";
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, reason))
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Guarded<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(error) = self.poll_end(context) {
            return Poll::Ready(Err(error));
        }
        if self.visitor.standing() == Standing::Refused {
            // The answer goes out, and however much more is asked waits in the network.
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Guarded<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

impl<IO> Connected for Guarded<IO> {
    type ConnectInfo = Arc<Visitor>;

    fn connect_info(&self) -> Arc<Visitor> {
        self.visitor.clone()
    }
}

impl<IO> Drop for Guarded<IO> {
    fn drop(&mut self) {
        self.door.see_off(&self.visitor);
    }
}
