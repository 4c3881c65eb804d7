//! Waiting for conditions, and what a coordinator says of itself.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jlpns_proto::v1;
use jlpns_proto::v1::solver_client::SolverClient;
use tokio::runtime::Runtime;
use tonic::transport::Endpoint;

use crate::cluster::LIMIT;

/// How long to wait before a condition is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// How long an answer may take before it counts as none: the coordinator may stand still.
const ANSWER: Duration = Duration::from_secs(1);

/// Where a coordinator is at present: each of its lives has another port.
pub type Place = Arc<Mutex<Option<SocketAddr>>>;

/// The address at a place.
///
/// # Panics
///
/// If another thread panicked while it changed the place.
pub fn address(place: &Place) -> Option<SocketAddr> {
    *place.lock().expect("nobody panics with a place")
}

/// Waits until `look` finds something.
///
/// # Panics
///
/// If it does not within [`LIMIT`].
pub fn soon<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(LIMIT, look).unwrap_or_else(|| panic!("waited in vain for: {what}"))
}

/// Waits until `look` finds something; `None` if it does not within `limit`.
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Asks a coordinator for its state.
#[derive(Debug)]
pub struct Watch {
    runtime: Runtime,
    place: Place,
}

impl Watch {
    /// Watches the coordinator at `place`.
    ///
    /// # Panics
    ///
    /// If the system has no room for a runtime.
    pub fn new(place: Place) -> Watch {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Watch { runtime: runtime.expect("a runtime"), place }
    }

    /// The state; `None` if there is no answer.
    pub fn status(&self) -> Option<v1::SolveStatus> {
        let address = address(&self.place)?;
        let endpoint = Endpoint::from_shared(format!("http://{address}")).ok()?;
        let asking = async {
            let channel = endpoint.connect().await.ok()?;
            let status = SolverClient::new(channel).get_status(v1::GetStatusRequest {}).await;
            status.ok().map(|status| status.into_inner())
        };
        let answer = async { tokio::time::timeout(ANSWER, asking).await.ok().flatten() };
        self.runtime.block_on(answer)
    }

    /// Waits until the state is as wanted.
    ///
    /// # Panics
    ///
    /// If it is not within [`LIMIT`].
    pub fn until(&self, what: &str, wanted: impl Fn(&v1::SolveStatus) -> bool) -> v1::SolveStatus {
        soon(what, || self.status().filter(|status| wanted(status)))
    }
}
