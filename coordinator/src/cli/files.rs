//! The limit on open files: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

/// Files that are open beside the connections: the journal, the log, what the runtime needs.
const OTHERS: u64 = 64;

/// Raises this process's limit to what it may be, and says so if that is too low. The usual limit
/// of 1,024 is there for programs of another kind, and is below the usual number of workers.
pub fn make_room_for(connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    // Without a hard limit there is nothing that the soft one could not be.
    let raised = Rlimit { current: limit.maximum, ..limit };
    let in_force = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => limit.current,
    };
    let wanted = (connections as u64).saturating_add(OTHERS);
    if let Some(most) = in_force.filter(|&most| most < wanted) {
        warn!(
            "{most} files may be open (ulimit -n), and as many connections as are let in need \
             {wanted}; those who find no room wait"
        );
    }
}
