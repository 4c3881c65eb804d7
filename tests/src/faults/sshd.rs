//! Servers of OpenSSH, and a client that knows nothing of whoever runs the tests.

use std::fs::{self, DirBuilder};
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::namespace::Namespace;
use crate::cluster::LIMIT;
use crate::{Running, bare, run};

/// Where the server is: no user's PATH needs to have it.
const SSHD: &str = "/usr/sbin/sshd";

/// A user's keys and configuration of ssh, and the keys of hosts.
#[derive(Debug)]
pub struct Keyring {
    folder: TempDir,
}

/// Which users a server lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetsIn {
    /// The one with the keyring's key.
    TheUser,
    /// One with another key.
    Another,
    /// One with a password, which nobody has.
    Passwords,
}

impl Keyring {
    /// A keyring with a key; `None` if OpenSSH is not there.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn new() -> Option<Keyring> {
        if !Path::new(SSHD).exists() {
            return None;
        }
        let keyring = Keyring { folder: tempfile::tempdir().expect("a folder") };
        keyring.make_key("user")?;
        keyring.make_key("another")?;
        let path = |name| keyring.path(name).display().to_string();
        let config = format!(
            "Host *\nUser root\nIdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none\n\
             UserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
            path("user"),
            path("known_hosts"),
        );
        keyring.write("config", &config);
        keyring.write("known_hosts", "");
        Some(keyring)
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command for ssh with its configuration.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.path("config").display())
    }

    fn make_key(&self, name: &str) -> Option<()> {
        let mut make = bare("ssh-keygen");
        make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(self.path(name));
        (run(&mut make, LIMIT).code == Some(0)).then_some(())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it is written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it is there")
    }

    /// Remembers the key of a server.
    ///
    /// # Panics
    ///
    /// If there is no room for it.
    pub fn know(&self, server: &Sshd) {
        let public = self.read(&format!("{}.pub", server.key));
        let place = match server.port {
            22 => server.address.to_string(),
            port => format!("[{}]:{port}", server.address),
        };
        let line = format!("{place} {public}");
        self.write("known_hosts", &(self.read("known_hosts") + &line));
    }

    /// A server in a namespace, which is waited for.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn serve(&self, namespace: &Namespace, port: u16, lets_in: LetsIn) -> Sshd {
        let address = namespace.address();
        let key = format!("host-{address}-{port}");
        self.make_key(&key).expect("a key was made before");
        let name = |what: &str| format!("{key}.{what}");
        let authorized = match lets_in {
            LetsIn::TheUser => self.read("user.pub"),
            LetsIn::Another => self.read("another.pub"),
            LetsIn::Passwords => String::new(),
        };
        self.write(&name("authorized"), &authorized);
        let passwords = if lets_in == LetsIn::Passwords { "yes" } else { "no" };
        let path = |name: &str| self.path(name).display().to_string();
        let config = format!(
            "ListenAddress {address}:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPermitRootLogin yes\nPasswordAuthentication {passwords}\n\
             KbdInteractiveAuthentication no\nPrintMotd no\nMaxStartups 100\n",
            path(&key),
            path(&name("authorized")),
        );
        self.write(&name("config"), &config);
        // Where it wants to be locked up before it knows who comes; Debian has it made at its start.
        let _ = DirBuilder::new().mode(0o755).recursive(true).create("/run/sshd");
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(self.path(&name("config")));
        let server = Running::start(&mut namespace.enter(&command));
        server.wait_for(LIMIT, |line| line.contains("Server listening").then_some(()));
        Sshd { address, port, key, _server: server }
    }
}

/// A server, which ends when this value is dropped.
#[derive(Debug)]
pub struct Sshd {
    address: Ipv4Addr,
    port: u16,
    key: String,
    _server: Running,
}

impl Sshd {
    /// Where it listens.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }
}
