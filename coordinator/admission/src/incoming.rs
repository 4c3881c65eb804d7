//! The connections of a listener, each through the door.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tracing::{debug, warn};

use super::Door;
use super::visitor::Guarded;

/// How long to wait when the system gives no more connections, for want of file handles as a rule.
const PAUSE: Duration = Duration::from_millis(100);
/// How many failures in a row are one line in the log.
const ONE_LINE: u32 = 100;

/// The connections that `listener` accepts and `door` does not turn away at once.
pub fn incoming(
    listener: TcpListener,
    door: Arc<Door>,
) -> impl Stream<Item = io::Result<Guarded<TcpStream>>> + Send {
    let failures = Arc::new(AtomicU32::new(0));
    let admitted = TcpListenerStream::new(listener).then(move |accepted| {
        let (door, failures) = (door.clone(), failures.clone());
        async move {
            match accepted.and_then(prepared) {
                Ok((stream, peer)) => {
                    failures.store(0, Ordering::Relaxed);
                    door.admit(stream, peer.ip())
                }
                // No reason to end the solve: the peer has gone, or it is our turn to wait.
                Err(error) => {
                    let before = failures.fetch_add(1, Ordering::Relaxed);
                    if error.kind() == io::ErrorKind::NotConnected {
                        debug!("a connection was gone at once: {error}");
                    } else {
                        if before.is_multiple_of(ONE_LINE) {
                            warn!("a connection could not be accepted: {error}");
                        }
                        sleep(PAUSE).await;
                    }
                    None
                }
            }
        }
    });
    admitted.filter_map(|connection| connection.map(Ok))
}

fn prepared(stream: TcpStream) -> io::Result<(TcpStream, std::net::SocketAddr)> {
    // Reports and leases are small and wait for each other: they must not wait for company.
    let gone = |error| io::Error::new(io::ErrorKind::NotConnected, error);
    stream.set_nodelay(true).map_err(gone)?;
    let peer = stream.peer_addr().map_err(gone)?;
    Ok((stream, peer))
}
