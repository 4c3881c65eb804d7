//! What launching workers over ssh decides. Pure: no process is started here, no file is read, no clock is asked.
//!
//! - [`host`]: a host and how a worker runs there; which names of hosts are safe on ssh's command line.
//! - [`hosts_file`]: the file that names them, as plain lines or as TOML.
//! - [`binary`]: for which machines a worker was built.
//! - [`run_script`]: how the worker is started there, and [`quote`]: words for a shell.
//! - [`order`]: what is sent to a host: one of the scripts, its values, and what follows them.
//! - [`answer`]: what a host says; [`survey`]: the same of a host that was looked at.
//! - [`plan`]: what is to be done on a host.
//! - [`trouble`]: what went wrong on a host, and what would help; [`connecting`]: the same of ssh.
//! - [`diagnosis`]: what could keep a worker from running there.

#![forbid(unsafe_code)]

pub mod answer;
pub mod binary;
pub mod connecting;
pub mod diagnosis;
pub mod host;
pub mod hosts_file;
pub mod order;
pub mod plan;
pub mod quote;
pub mod run_script;
pub mod survey;
pub mod trouble;
