//! Ways to a coordinator: over the network, or through a pipe within this process.

use std::error::Error;
use std::future::Future;
use std::io;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tonic::transport::{self, Channel, Endpoint};
use tower::service_fn;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a silent connection is tried, and how long the answer may take: what finds out that
/// the other end is gone without a word.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// How much a pipe holds before its writer waits, in bytes.
const PIPE_BYTES: usize = 1 << 16;

/// A way to a coordinator. The client connects anew after each loss.
pub trait Connector: Send + Sync {
    /// Opens a new connection.
    fn connect(&self) -> impl Future<Output = Result<Channel, transport::Error>> + Send;
}

/// The way to a coordinator over TCP.
#[derive(Clone, Debug)]
pub struct Dial {
    endpoint: Endpoint,
}

/// Why the address of a coordinator is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No URL, or none of the right kind.
    #[error("'{0}' is no coordinator address; write http://HOST:PORT")]
    Malformed(String),
    /// A URL for an encrypted connection.
    #[error(
        "'{0}' asks for an encrypted connection, which is not supported; write http://HOST:PORT"
    )]
    Encrypted(String),
}

impl Dial {
    /// The way to `http://HOST:PORT`.
    pub fn new(url: &str) -> Result<Dial, AddressError> {
        let malformed = || AddressError::Malformed(url.to_owned());
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|_| malformed())?;
        let uri = endpoint.uri();
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(AddressError::Encrypted(url.to_owned())),
            _ => return Err(malformed()),
        }
        if uri.host().is_none_or(str::is_empty) || !matches!(uri.path(), "" | "/") {
            return Err(malformed());
        }
        Ok(Dial {
            endpoint: endpoint
                .connect_timeout(CONNECT_TIMEOUT)
                .http2_keep_alive_interval(PING_INTERVAL)
                .keep_alive_timeout(PING_TIMEOUT)
                .keep_alive_while_idle(true),
        })
    }
}

impl Connector for Dial {
    async fn connect(&self) -> Result<Channel, transport::Error> {
        self.endpoint.connect().await
    }
}

/// The way to a coordinator in this process: each connection is an in-memory pipe, whose far end
/// goes to the coordinator through a channel.
#[derive(Clone, Debug)]
pub struct Pipe {
    to_coordinator: mpsc::Sender<DuplexStream>,
}

impl Pipe {
    /// A way that hands the far ends of its pipes to `to_coordinator`.
    pub fn new(to_coordinator: mpsc::Sender<DuplexStream>) -> Pipe {
        Pipe { to_coordinator }
    }
}

impl Connector for Pipe {
    async fn connect(&self) -> Result<Channel, transport::Error> {
        let to_coordinator = self.to_coordinator.clone();
        // The address is never looked up: it only fills the requests' headers.
        Endpoint::from_static("http://in-process")
            .connect_with_connector(service_fn(move |_| {
                let to_coordinator = to_coordinator.clone();
                async move {
                    let (near, far) = tokio::io::duplex(PIPE_BYTES);
                    to_coordinator.send(far).await.map_err(|_| {
                        io::Error::new(
                            io::ErrorKind::ConnectionRefused,
                            "the coordinator in this process has gone",
                        )
                    })?;
                    Ok::<_, io::Error>(TokioIo::new(near))
                }
            }))
            .await
    }
}

/// An error with all its causes, in one line. Transport errors say nothing without them.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_they_are_dialled() {
        for good in ["http://localhost:7070", "http://10.0.0.1:7070/", "http://[::1]:7070"] {
            assert!(Dial::new(good).is_ok(), "{good}");
        }
        for bad in ["", "localhost:7070", "7070", "ftp://host:1", "http://", "http://h:1/x", "a b"]
        {
            assert_eq!(
                Dial::new(bad).err(),
                Some(AddressError::Malformed(bad.to_owned())),
                "{bad}"
            );
        }
        let error = Dial::new("https://host:7070").expect_err("no TLS");
        assert_eq!(error, AddressError::Encrypted("https://host:7070".to_owned()));
    }
}
