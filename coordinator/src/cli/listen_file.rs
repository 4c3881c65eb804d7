//! `--listen-file` and `--advertise`: where a coordinator says at which address it is.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;
use jlpns_link::coordinator_file::CoordinatorFile;

use super::CommandError;

/// The flags of a coordinator that tells where it is.
#[derive(Debug, clap::Args)]
pub struct ListenFileFlags {
    /// Write the URL of this coordinator to this file as long as it listens, for --coordinator-file of the workers
    #[arg(long, value_name = "FILE", env = "JLPNS_LISTEN_FILE")]
    listen_file: Option<PathBuf>,

    /// The name or address of this machine in --listen-file, with a port if it is another one for those that connect
    /// [default: where it listens; the name of the host if that is everywhere]
    #[arg(long, value_name = "HOST[:PORT]", env = "JLPNS_ADVERTISE", requires = "listen_file")]
    #[arg(value_parser = advertised)]
    advertise: Option<Advertised>,
}

/// How others reach this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// As it is written in a URL.
    host: String,
    /// The port, if it is not the one where the coordinator listens.
    port: Option<u16>,
}

/// `HOST`, `HOST:PORT`, an address of IPv6 alone, or one in brackets.
fn advertised(text: &str) -> Result<Advertised, String> {
    let wrong = || {
        "write a host that others reach, such as solver.lab.example, 10.0.0.1:7070 or [fd00::1]:7070"
            .to_owned()
    };
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok(Advertised { host: format!("[{address}]"), port: None });
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => {
            let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?;
            (host, Some(port))
        }
        _ => (text, None),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(is_name),
    };
    if !is_host {
        return Err(wrong());
    }
    Ok(Advertised { host: host.to_owned(), port })
}

/// The URL of a coordinator that listens on `address`, on a machine that calls itself `host_name`.
fn url(
    scheme: &str,
    address: SocketAddr,
    advertised: Option<&Advertised>,
    host_name: impl FnOnce() -> String,
) -> String {
    let port = advertised.and_then(|advertised| advertised.port).unwrap_or(address.port());
    let host = match (advertised, address.ip().to_canonical()) {
        (Some(advertised), _) => advertised.host.clone(),
        (None, ip) if ip.is_unspecified() => host_name(),
        (None, IpAddr::V4(ip)) => ip.to_string(),
        (None, IpAddr::V6(ip)) => format!("[{ip}]"),
    };
    format!("{scheme}://{host}:{port}")
}

impl ListenFileFlags {
    /// Writes the file, if there is to be one. It is taken away with what this gives.
    pub fn write(
        &self,
        scheme: &str,
        address: SocketAddr,
    ) -> Result<Option<CoordinatorFile>, CommandError> {
        let Some(path) = &self.listen_file else { return Ok(None) };
        let host_name = || gethostname::gethostname().to_string_lossy().into_owned();
        let url = url(scheme, address, self.advertise.as_ref(), host_name);
        let file = CoordinatorFile::write(path, &url).with_context(|| {
            format!("cannot write the file {} of --listen-file", path.display())
        })?;
        tracing::info!("{} says that this coordinator is at {url}", path.display());
        Ok(Some(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_advertised_with_a_port_and_without() {
        let read = |text| advertised(text).map(|read| (read.host, read.port));
        let of = |host: &str, port| Ok((host.to_owned(), port));
        assert_eq!(read("solver.lab.example"), of("solver.lab.example", None));
        assert_eq!(read("solver_1:7070"), of("solver_1", Some(7070)));
        assert_eq!(read("10.0.0.1"), of("10.0.0.1", None));
        assert_eq!(read("10.0.0.1:80"), of("10.0.0.1", Some(80)));
        assert_eq!(read("fd00::1"), of("[fd00::1]", None));
        assert_eq!(read("[fd00::1]"), of("[fd00::1]", None));
        assert_eq!(read("[fd00::1]:7070"), of("[fd00::1]", Some(7070)));
        for bad in [
            "",
            ":7070",
            "a:0",
            "a:99999",
            "a:b",
            "a b",
            "http://a:1",
            "[a]:1",
            "a/b",
            "[::1",
            "a,b",
        ] {
            assert!(read(bad).expect_err(bad).contains("solver.lab.example"), "{bad}");
        }
    }

    #[test]
    fn the_url_is_the_one_by_which_others_reach_the_coordinator() {
        let url = |address: &str, given: Option<&str>| {
            let given = given.map(|text| advertised(text).expect(text));
            let address = address.parse().expect("an address");
            url("http", address, given.as_ref(), || "node7".to_owned())
        };
        assert_eq!(url("127.0.0.1:7070", None), "http://127.0.0.1:7070");
        assert_eq!(url("[fd00::1]:7070", None), "http://[fd00::1]:7070");
        assert_eq!(url("0.0.0.0:7070", None), "http://node7:7070");
        assert_eq!(url("[::]:7070", None), "http://node7:7070");
        assert_eq!(url("[::ffff:10.0.0.1]:1", None), "http://10.0.0.1:1");
        assert_eq!(url("0.0.0.0:7070", Some("lab")), "http://lab:7070");
        assert_eq!(url("0.0.0.0:7070", Some("lab:80")), "http://lab:80");
        assert_eq!(url("10.0.0.1:7070", Some("fd00::1")), "http://[fd00::1]:7070");
    }
}
