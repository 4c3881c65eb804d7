//! `jlpns keys`: the token, keys and certificates by which a coordinator admits only a lab's workers.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::Subcommand;
use jlpns_link::keys::{self, KeysError, Lab, WORKER};

use super::{CommandError, End, output};

/// What `jlpns keys` is given.
#[derive(Debug, clap::Args)]
pub struct KeysFlags {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Make a token, an authority, and certificates for the coordinator and for workers
    Init(InitFlags),
}

/// What `jlpns keys init` is given.
#[derive(Debug, clap::Args)]
struct InitFlags {
    /// The folder for the files; it is made if there is none, and nothing is overwritten
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// A name under which workers reach the coordinator, beside localhost and this machine's; may
    /// be given again
    #[arg(long = "name", value_name = "NAME", env = "JLPNS_KEYS_NAME", value_delimiter = ',')]
    names: Vec<String>,

    /// An address under which workers reach the coordinator, beside 127.0.0.1 and ::1; may be
    /// given again
    #[arg(long = "ip", value_name = "ADDRESS", env = "JLPNS_KEYS_IP", value_delimiter = ',')]
    addresses: Vec<IpAddr>,

    /// A worker that gets a certificate of its own; may be given again
    #[arg(long = "worker", value_name = "NAME", default_value = WORKER, env = "JLPNS_KEYS_WORKER")]
    #[arg(value_delimiter = ',')]
    workers: Vec<String>,

    /// How many days the certificates are valid
    #[arg(long, value_name = "N", default_value = "825", env = "JLPNS_KEYS_DAYS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=36_500), allow_hyphen_values = true)]
    days: u32,
}

/// Makes the files and lists them.
pub fn run(flags: &KeysFlags) -> Result<End, CommandError> {
    let KeysCommand::Init(flags) = &flags.command;
    let lab = flags.lab();
    let written = keys::init(&flags.folder, &lab).map_err(|error| match error {
        KeysError::Exists(_)
        | KeysError::BadWorker(_)
        | KeysError::Twice(_)
        | KeysError::BadName(_) => CommandError::BadInput(error.to_string()),
        error => CommandError::from(error),
    })?;
    let mut text = String::new();
    for path in written {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", path.display());
    }
    let addresses: Vec<String> = lab.addresses.iter().map(IpAddr::to_string).collect();
    let _ = write!(
        text,
        "the coordinator's certificate is for {} and {}, for {} days; keep ca.key off the machines",
        lab.names.join(", "),
        addresses.join(", "),
        lab.days
    );
    output::print_text(&text)?;
    Ok(End::Solved)
}

impl InitFlags {
    fn lab(&self) -> Lab {
        let mut names = vec!["localhost".to_owned()];
        let this = gethostname::gethostname().to_string_lossy().into_owned();
        let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        // What a machine calls itself need not be a name for others.
        let this = keys::is_machine_name(&this).then_some(&this);
        for name in this.into_iter().chain(&self.names) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        for &address in &self.addresses {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        Lab { names, addresses, workers: self.workers.clone(), days: self.days }
    }
}
