//! A network of its own, whose packets are dropped or let through slowly.

use std::net::Ipv4Addr;
use std::process::{Command, Output, Stdio};

/// A network namespace, joined to the rest of the machine by a pair of virtual interfaces. It is
/// taken down when this value is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    outside: Ipv4Addr,
    inside: Ipv4Addr,
    /// The interface inside.
    device: String,
}

impl Namespace {
    /// A namespace with a number from 0 to 255, which must be free on this machine; `None` if this
    /// user may not have one, or the tools `ip`, `iptables` and `tc` are not there.
    pub fn new(number: u8) -> Option<Namespace> {
        let name = format!("jlpns-{}-{number}", std::process::id());
        let outside = Ipv4Addr::new(10, 213, number, 1);
        let inside = Ipv4Addr::new(10, 213, number, 2);
        let (near, far) = (format!("jlo{number}"), format!("jli{number}"));
        for tool in ["iptables", "tc"] {
            Command::new(tool).arg("-V").output().ok()?;
        }
        run("ip", &["netns", "add", &name])?;
        let namespace = Namespace { name, outside, inside, device: far };
        let (name, far) = (&namespace.name, &namespace.device);
        // Left by a run that was killed.
        let _ = run("ip", &["link", "delete", &near]);
        run("ip", &["link", "add", &near, "type", "veth", "peer", "name", far, "netns", name])?;
        run("ip", &["addr", "add", &format!("{outside}/24"), "dev", &near])?;
        run("ip", &["link", "set", &near, "up"])?;
        namespace.inside("ip", &["addr", "add", &format!("{inside}/24"), "dev", far])?;
        namespace.inside("ip", &["link", "set", far, "up"])?;
        // Addresses of the rest of the machine that it has for other namespaces.
        namespace.inside("ip", &["route", "add", "default", "via", &outside.to_string()])?;
        // Both kinds of faults work here, or neither is tried.
        namespace.set_drops(true)?;
        namespace.set_drops(false)?;
        namespace.slow(Some("1mbit"))?;
        namespace.slow(None)?;
        Some(namespace)
    }

    /// The address of the rest of the machine, as seen from inside.
    pub fn outside(&self) -> Ipv4Addr {
        self.outside
    }

    /// Its own address, as seen from the rest of the machine.
    pub fn address(&self) -> Ipv4Addr {
        self.inside
    }

    /// The same command, run inside, with pipes as [`Running`](crate::Running) wants them.
    pub fn enter(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.name]).arg(command.get_program());
        inside.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        inside
    }

    /// Drops all packets that leave, or lets them pass again; `None` if that cannot be done.
    pub fn set_drops(&self, on: bool) -> Option<()> {
        let change = if on { "-A" } else { "-D" };
        self.inside("iptables", &[change, "OUTPUT", "-p", "tcp", "-j", "DROP"]).map(|_| ())
    }

    /// How many packets were dropped since that began.
    ///
    /// # Panics
    ///
    /// If packets are not dropped at present.
    pub fn dropped(&self) -> u64 {
        let table = self.inside("iptables", &["-nvxL", "OUTPUT"]).expect("iptables has worked");
        let rule = table.lines().find(|line| line.contains("DROP") && !line.starts_with("Chain"));
        let packets = rule.and_then(|line| line.split_whitespace().next()?.parse().ok());
        packets.unwrap_or_else(|| panic!("no rule in {table}"))
    }

    /// Lets at most so much leave, in the words of `tc`, or all again; `None` if that cannot be done.
    pub fn slow(&self, rate: Option<&str>) -> Option<()> {
        let device = &*self.device;
        let done = match rate {
            Some(rate) => {
                let bucket = ["root", "tbf", "rate", rate, "burst", "2kb", "latency", "500ms"];
                let replace = ["qdisc", "replace", "dev", device];
                self.inside("tc", &[&replace[..], &bucket].concat())
            }
            None => self.inside("tc", &["qdisc", "delete", "dev", device, "root"]),
        };
        done.map(|_| ())
    }

    /// How often something had to wait for the rate.
    ///
    /// # Panics
    ///
    /// If nothing is slow at present.
    pub fn waited(&self) -> u64 {
        let text = self.inside("tc", &["-s", "qdisc", "show", "dev", &self.device]);
        let text = text.expect("tc has worked");
        let count = text.split_once("overlimits ").and_then(|(_, rest)| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        });
        count.unwrap_or_else(|| panic!("no count in {text}"))
    }

    fn inside(&self, program: &str, args: &[&str]) -> Option<String> {
        run("ip", &[&["netns", "exec", &self.name, program][..], args].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The interfaces go with it.
        let _ = run("ip", &["netns", "delete", &self.name]);
    }
}

/// What a command says; `None` if it fails.
fn run(program: &str, args: &[&str]) -> Option<String> {
    let Output { status, stdout, .. } = Command::new(program).args(args).output().ok()?;
    status.success().then(|| String::from_utf8_lossy(&stdout).into_owned())
}
