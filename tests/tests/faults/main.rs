//! Clusters of real processes under faults: after any of them the value is right, what was
//! acknowledged is in the journal, and not much more is searched than without.

mod chaos;
mod coordinator;
mod launch;
mod moved;
mod network;
mod workers;
