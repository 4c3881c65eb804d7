//! What both ends of a connection need: a way to the coordinator, what is shown and believed on that
//! way, and the keys for it.
//!
//! - [`connect`]: the way to a coordinator; [`causes`] tells why there is none.
//! - [`whereabouts`]: where it is: at an address, at one of several, or where a [`coordinator_file`] says.
//! - [`credentials`]: what is shown and believed on that way: the shared [`token`], and
//!   certificates from [`pem`] files for [`tls`]; [`distrust`] words what comes of the wrong ones,
//!   and [`readers`] finds out who can read a file.
//! - [`keys`]: makes the token, the certificates and the keys of a lab.

pub mod causes;
pub mod connect;
pub mod coordinator_file;
pub mod credentials;
pub mod distrust;
pub mod keys;
pub mod pem;
pub mod readers;
pub mod tls;
pub mod token;
pub mod whereabouts;
