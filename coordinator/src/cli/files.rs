//! The limit on open files: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open beside the connections: the journal, the log, what the runtime needs.
const OTHERS: u64 = 64;

/// Raises this process's limit to what it may be; how many of so many connections there may be then,
/// and a warning if those are fewer. The usual limit of 1,024 is there for programs of another kind, and
/// is below the usual number of workers.
pub fn connections_within(connections: usize) -> (usize, Option<String>) {
    let limit = getrlimit(Resource::Nofile);
    // Without a hard limit there is nothing that the soft one could not be.
    let raised = Rlimit { current: limit.maximum, ..limit };
    let in_force = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => limit.current,
    };
    let wanted = (connections as u64).saturating_add(OTHERS);
    let Some(most) = in_force.filter(|&most| most < wanted) else { return (connections, None) };
    let within = usize::try_from(most.saturating_sub(OTHERS)).unwrap_or(usize::MAX).max(1);
    let warning = format!(
        "{most} files may be open (ulimit -n), so there are at most {within} connections at a time; \
         as many workers as are let in, and those that only connect, need {wanted} files"
    );
    (within, Some(warning))
}
