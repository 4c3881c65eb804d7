//! The flags that every command has, and what the configuration file may hold outside its tables.

use std::path::PathBuf;

/// The flags of every command of both programs.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CommonFlags {
    /// The configuration file: settings for these commands [default:
    /// $XDG_CONFIG_HOME/jlpns/config.toml, or else ~/.config/jlpns/config.toml]
    #[arg(long, global = true, value_name = "FILE", env = "JLPNS_CONFIG")]
    pub config: Option<PathBuf>,

    /// What is logged, such as warn or jlpns=debug; RUST_LOG is read too
    #[arg(long, global = true, value_name = "FILTER", env = "JLPNS_LOG")]
    pub log: Option<String>,

    /// Log more; twice for all
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Log only warnings, and show no progress; twice for errors alone
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    #[arg(conflicts_with = "verbose")]
    pub quiet: u8,
}

/// The keys that may be outside all tables: settings that several commands have, with one meaning. They hold for each
/// command that has them, unless its own table says otherwise. They are listed because neither program knows the flags
/// of the other.
pub const COMMON_KEYS: [&str; 14] = [
    "ca",
    "cert",
    "coordinator",
    "coordinator-file",
    "key",
    "line",
    "log",
    "memory",
    "output",
    "quiet",
    "slots",
    "tls-name",
    "token-file",
    "verbose",
];

/// The tables of the file: one for each command of `jlpns`, and one for `jlpns-worker`.
pub const TABLES: [&str; 25] = [
    "bench",
    "cancel",
    "certify",
    "completions",
    "config",
    "explore",
    "health",
    "keys",
    "launch",
    "man",
    "moves",
    "plan",
    "queue",
    "results",
    "resume",
    "search",
    "serve",
    "simulate",
    "solve",
    "status",
    "submit",
    "verify",
    "wait",
    "worker",
    "workers",
];
