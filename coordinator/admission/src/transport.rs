//! The bytes of a connection that may speak: as they come, or inside TLS once its handshake is done.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::connection::{Connection, Supervised};

/// What goes through a connection.
pub enum Transport<IO> {
    /// As it comes.
    Plain(Supervised<IO>),
    /// What is inside TLS.
    Tls(Box<TlsStream<Supervised<IO>>>),
}

trait Bytes: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Bytes for T {}

impl<IO: AsyncRead + AsyncWrite + Unpin> Transport<IO> {
    fn bytes(self: Pin<&mut Self>) -> Pin<&mut dyn Bytes> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream),
            Transport::Tls(stream) => Pin::new(stream.as_mut()),
        }
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncRead for Transport<IO> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.bytes().poll_read(context, buffer)
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Transport<IO> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.bytes().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.bytes().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bytes().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bytes().poll_shutdown(context)
    }
}

impl<IO> Connected for Transport<IO> {
    type ConnectInfo = Arc<Connection>;

    fn connect_info(&self) -> Arc<Connection> {
        match self {
            Transport::Plain(stream) => stream.connection().clone(),
            Transport::Tls(stream) => stream.get_ref().0.connection().clone(),
        }
    }
}
