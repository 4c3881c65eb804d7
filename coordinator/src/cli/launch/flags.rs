//! What all commands of `jlpns launch` are given, and the hosts that they name.

use std::io::Read;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, io};

use jlpns_launch::host::{self, Host, Settings};
use jlpns_launch::hosts_file;
use jlpns_launch::order::Draining;

use super::super::output::Output;
use super::super::{CommandError, values};

/// The longest list of hosts, in bytes.
const LONGEST_LIST: u64 = 16 << 20;

/// The flags of all commands.
#[derive(Debug, clap::Args)]
pub struct CrewFlags {
    /// The hosts: a file with one a line or in TOML, `-` for stdin, or `slurm` for those of the Slurm job that this
    /// is run in
    #[arg(long, value_name = "FILE", env = "JLPNS_LAUNCH_HOSTS", allow_hyphen_values = true)]
    hosts: String,

    /// Only these of the hosts
    #[arg(value_name = "HOST")]
    only: Vec<String>,

    /// The ssh program and its options, separated by spaces, such as 'ssh -F FILE'
    #[arg(long, value_name = "COMMAND", default_value = "ssh", env = "JLPNS_LAUNCH_SSH")]
    pub ssh: String,

    /// How many hosts are worked on at a time
    #[arg(long, value_name = "N", default_value = "16", env = "JLPNS_LAUNCH_PARALLEL")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024), allow_hyphen_values = true)]
    pub parallel: u16,

    /// The folder for the worker's files on a host, if the list of hosts does not say it [default:
    /// ~/.local/state/jlpns]
    #[arg(long, value_name = "DIR", env = "JLPNS_LAUNCH_PATH", value_parser = host::path)]
    path: Option<String>,

    /// How many seconds a host has to answer at all
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "10",
        env = "JLPNS_LAUNCH_CONNECT_TIMEOUT"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600), allow_hyphen_values = true)]
    pub connect_timeout: u32,

    /// How long one host may take in all, without the time to drain
    #[arg(long, value_name = "DURATION", default_value = "10m", env = "JLPNS_LAUNCH_HOST_LIMIT")]
    #[arg(value_parser = values::duration, allow_hyphen_values = true)]
    pub host_limit: Duration,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    pub output: Output,
}

/// The flags of all commands that end workers.
#[derive(Debug, clap::Args)]
pub struct DrainingFlags {
    /// How long a worker may take to drain
    #[arg(long, value_name = "DURATION", default_value = "60s", env = "JLPNS_LAUNCH_DRAIN_LIMIT")]
    #[arg(value_parser = values::duration, allow_hyphen_values = true)]
    drain_limit: Duration,

    /// Make a worker end that has not drained within that time
    #[arg(long, env = "JLPNS_LAUNCH_ABORT", value_parser = clap::builder::BoolishValueParser::new())]
    abort: bool,
}

impl DrainingFlags {
    /// How workers are asked to end.
    pub fn draining(&self) -> Draining {
        // What is less than a second on a host's clock is none.
        let seconds = self.drain_limit.as_secs() + u64::from(self.drain_limit.subsec_nanos() > 0);
        Draining { seconds, aborts: self.abort }
    }
}

impl CrewFlags {
    /// The hosts that are named; `more` is said of those of which the list does not say it.
    pub fn hosts(&self, more: Settings) -> Result<Vec<Host>, CommandError> {
        let (list, text) = self.list()?;
        let flags = Settings { path: self.path.clone(), ..more };
        let hosts = hosts_file::parse(&text, &flags)
            .map_err(|error| CommandError::BadInput(format!("{list} {error}")))?;
        hosts_file::only(hosts, &self.only).map_err(CommandError::BadInput)
    }

    /// The list of hosts, and what it is called.
    fn list(&self) -> Result<(String, String), CommandError> {
        match self.hosts.as_str() {
            "-" => {
                let list = "the list of hosts on stdin".to_owned();
                let text = read(&list, io::stdin())?;
                Ok((list, text))
            }
            "slurm" => Ok(("the list of hosts from Slurm".to_owned(), from_slurm()?)),
            file => {
                let list = format!("the hosts file {file}");
                let opened = fs::File::open(file).map_err(|error| unreadable(&list, &error))?;
                let text = read(&list, opened)?;
                Ok((list, text))
            }
        }
    }
}

fn read(list: &str, from: impl Read) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    from.take(LONGEST_LIST).read_to_end(&mut bytes).map_err(|error| unreadable(list, &error))?;
    let text = String::from_utf8(bytes);
    text.map_err(|_| {
        CommandError::BadInput(format!("{list} is no text; write one host a line, or TOML"))
    })
}

fn unreadable(list: &str, error: &io::Error) -> CommandError {
    CommandError::BadInput(format!("{list} cannot be read: {error}"))
}

/// The hosts of the Slurm job that this is run in.
fn from_slurm() -> Result<String, CommandError> {
    let bad = |sentence: String| CommandError::BadInput(sentence);
    let nodes = env::var("SLURM_JOB_NODELIST").map_err(|_| {
        bad("--hosts slurm is for a Slurm job, and SLURM_JOB_NODELIST is not set; run it within salloc or sbatch".to_owned())
    })?;
    let output = Command::new("scontrol").args(["show", "hostnames", &nodes]).output();
    let output = output.map_err(|error| {
        bad(format!("scontrol, which names the hosts of the job, cannot be run: {error}"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(bad(format!("scontrol does not name the hosts of the job: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
