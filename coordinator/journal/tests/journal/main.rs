//! The durable store of the journal on a real disk.
//!
//! - `stage`: directories, records and what a journal must give back.
//! - `life`: random lives of a journal against a model.
//! - `identity`: other solves, other versions, two processes, `solve.json` damaged or gone.
//! - `damage`: files cut short, changed and overwritten.
//! - `kills`: a process that is killed while it writes.
//! - `full`: disks that are full or broken.
//! - `take_over`: a journal that another process goes on with while the first one is frozen.
//! - `groups`: the writer's thread.

mod damage;
mod full;
mod groups;
mod identity;
mod kills;
mod life;
mod stage;
mod take_over;
