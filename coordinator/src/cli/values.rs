//! How the values of flags are read, with a sentence for each that is refused.

use std::fmt::Display;
use std::net::SocketAddr;
use std::num::NonZero;
use std::str::FromStr;

use bytesize::ByteSize;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jlpns_common::graph::Selection;
use jlpns_common::spec::{GameSpec, SpecError, parse_moves};
use jlpns_common::{Algorithm, Game, Goal, Initialisation, Move, OutcomeScale};
use jlpns_proto::MAX_SLOTS;
use jlpns_worker::connect::{AddressError, Dial};
use jlpns_worker::credentials::CredentialFlags;
use jlpns_worker::search::Store;

use super::CommandError;

/// The least memory that a search can be given, in bytes.
const LEAST_MEMORY: u64 = 1 << 20;
/// The most memory that a search can be given, in bytes.
const MOST_MEMORY: u64 = 1 << 44;

/// Reads one of `known` by its name.
fn one_of<T, const N: usize>(
    known: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> + use<T, N>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(known.map(|(name, _)| name)).try_map(move |text| {
        let found = known.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or("unknown name")
    })
}

/// The name of one of `known` algorithms.
pub fn algorithm<const N: usize>(
    known: [Algorithm; N],
) -> impl TypedValueParser<Value = Algorithm> + use<N> {
    one_of(known.map(|algorithm| (algorithm.name(), algorithm)))
}

/// `tree` or `graph`.
pub fn store() -> impl TypedValueParser<Value = Store> {
    one_of([("tree", Store::Tree), ("graph", Store::Graph)])
}

/// `unit` or `mobility`.
pub fn initialisation() -> impl TypedValueParser<Value = Initialisation> {
    one_of([("unit", Initialisation::Unit), ("mobility", Initialisation::Mobility)])
}

/// `locking`, `virtual-win` or `virtual-loss`.
pub fn selection() -> impl TypedValueParser<Value = Selection> {
    one_of([
        ("locking", Selection::Locking),
        ("virtual-win", Selection::VirtualWin),
        ("virtual-loss", Selection::VirtualLoss),
    ])
}

/// The game. Not read by clap, which would repeat a text of any length in its message.
pub fn spec(text: &str) -> Result<GameSpec, CommandError> {
    text.parse().map_err(|e: SpecError| CommandError::bad_value("SPEC", text, e))
}

/// The value of `--goal`, which needs the outcomes of the game.
pub fn goal(scale: &OutcomeScale, text: Option<&str>) -> Result<Option<Goal>, CommandError> {
    let read =
        |text| scale.parse_goal(text).map_err(|e| CommandError::bad_value("--goal", text, e));
    text.map(read).transpose()
}

/// The value of `--moves`, which needs the rules of the game.
pub fn moves<G: Game>(game: &G, text: &str) -> Result<Vec<Move>, CommandError> {
    parse_moves(game, text).map_err(|e| CommandError::bad_value("--moves", text, e))
}

/// The way to the coordinator at a URL, with what the files of the flags hold.
pub fn coordinator(url: &str, flags: &CredentialFlags) -> Result<Dial, CommandError> {
    let (credentials, warnings) =
        flags.read().map_err(|error| CommandError::BadInput(error.to_string()))?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    Dial::with(url, credentials).map_err(|error| {
        let reason = match error {
            AddressError::Malformed(_) => "write http://HOST:PORT or https://HOST:PORT",
            AddressError::NoAuthority(_) => {
                "an encrypted connection needs the coordinator's CA, with --ca; for a plain one \
                 write http://HOST:PORT"
            }
            AddressError::Plain(_) => {
                "a plain connection has no use for --ca, --cert and --tls-name; write \
                 https://HOST:PORT"
            }
        };
        CommandError::bad_value("URL", url, reason)
    })
}

/// A whole number from `least` to `most`.
fn whole<T>(text: &str, least: T, most: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse::<T>().ok().filter(|n| (&least..=&most).contains(&n));
    number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
}

/// An address to listen on.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "write an IP address and a port, such as 127.0.0.1:7070, 0.0.0.0:7070 or [::1]:0".to_owned()
    })
}

/// A number of slots.
pub fn slots(text: &str) -> Result<u32, String> {
    whole(text, 1, MAX_SLOTS)
}

/// One slot for each core.
pub fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(MAX_SLOTS).min(MAX_SLOTS)
}

/// A number of nodes, from 1.
pub fn node_count(text: &str) -> Result<u64, String> {
    whole(text, 1, u64::MAX)
}

/// An amount of memory in bytes, such as `512MiB`.
pub fn memory(text: &str) -> Result<u64, String> {
    let ByteSize(bytes) = text
        .trim()
        .parse()
        .map_err(|_| "write a number with its unit, such as 512MiB, 2GiB or 1.5GB".to_owned())?;
    if (LEAST_MEMORY..=MOST_MEMORY).contains(&bytes) {
        Ok(bytes)
    } else {
        let (least, most) = (ByteSize(LEAST_MEMORY), ByteSize(MOST_MEMORY));
        Err(format!("write an amount of memory from {least} to {most}, such as 2GiB"))
    }
}

/// A finite number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "write a number above 0, such as 1800 or 0.25".to_owned())
}

/// A finite number, 0 or above.
pub fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "write a number from 0, such as 0.25".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_limits() {
        assert_eq!(memory("2GiB"), Ok(2 << 30));
        assert_eq!(memory(" 1.5 MiB "), Ok(3 << 19));
        assert_eq!(memory("4000000"), Ok(4_000_000));
        for bad in ["12QiB", "", "GiB", "-1GiB", "1GiB2", "1..5GiB", "NaN", "inf"] {
            assert!(memory(bad).unwrap_err().contains("512MiB"), "{bad}");
        }
        for bad in ["0", "1KiB", "99999999999999999999GiB", "1EiB"] {
            assert!(memory(bad).unwrap_err().contains("1.0 MiB to 16.0 TiB"), "{bad}");
        }
    }

    #[test]
    fn numbers_are_in_range() {
        assert_eq!(node_count("1"), Ok(1));
        for bad in ["0", "-1", "", "1e6", "18446744073709551616"] {
            assert!(node_count(bad).unwrap_err().contains("from 1 to"), "{bad}");
        }
        assert_eq!(positive("0.5"), Ok(0.5));
        assert_eq!(not_negative("0"), Ok(0.0));
        for bad in ["-1", "NaN", "inf", "x", ""] {
            assert!(positive(bad).is_err() && not_negative(bad).is_err(), "{bad}");
        }
        assert!(positive("0").is_err());
    }
}
