//! Faults for clusters of real processes, and the proof that each of them happened.
//!
//! - [`plan`]: which faults come in which order, from a seed.
//! - [`stage`]: a coordinator that is started again and again, and its workers.
//! - [`storm`]: carrying a plan out on a stage.
//! - [`watch`]: what a coordinator says of itself.
//! - [`signals`]: processes that are killed, stopped and asked to end.
//! - [`proxy`]: a TCP connection that is cut, hangs, or is slow.
//! - [`relay`]: messages that come twice or in another order; it also keeps the [`ledger`].
//! - [`impostor`], [`liar`]: workers that are not what they say.
//! - [`ledger`]: what the coordinator has promised.
//! - [`audit`]: whether the journal holds what was promised.
//! - [`tmpfs`]: a small disk that can be filled.
//! - [`namespace`]: a network of its own whose packets are dropped.
//! - [`sshd`]: servers of OpenSSH, each in such a network.

pub mod audit;
pub mod impostor;
pub mod ledger;
pub mod liar;
pub mod namespace;
pub mod plan;
pub mod proxy;
pub mod relay;
pub mod signals;
pub mod sshd;
pub mod stage;
pub mod storm;
pub mod tmpfs;
pub mod watch;
