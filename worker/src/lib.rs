//! The sub-searches of jlpns, and the worker that runs them as jobs.
//!
//! - [`search`]: what every search is given and what it gives back, and the choice among them.
//! - `watch`: limits and observers.
//! - `halving`: values by searches for one threshold.
//! - `pns`: PNS and GPNS; `pn2`: PN2 and GPNS2, and the second level of PDS-PN.
//! - `depth_first`: what the depth-first searches share; `dfpn`, `pds` and `alpha_beta` are they.
//! - [`baseline`]: plain alpha-beta of its own, which the searches are measured against.
//! - [`slots`]: the threads that run the searches of jobs; [`sub_search`] is what they call.
//! - [`memory`]: sizes of memory as people write them.
//! - [`client`]: what keeps a worker connected to its coordinator; [`connect`] is the way there.
//! - [`credentials`]: what it shows and believes on that way: the shared [`token`], and
//!   certificates from [`pem`] files for [`tls`]; [`distrust`] words what comes of the wrong ones,
//!   and [`readers`] finds out who can read a file.

mod alpha_beta;
pub mod baseline;
pub mod client;
pub mod connect;
pub mod credentials;
mod depth_first;
mod dfpn;
pub mod distrust;
mod halving;
pub mod memory;
mod pds;
pub mod pem;
mod pn2;
mod pns;
pub mod readers;
pub mod search;
pub mod slots;
pub mod sub_search;
pub mod tls;
pub mod token;
mod watch;
