//! How the values of flags are read, with a sentence for each that is refused.

use std::fmt::{self, Display};
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use jlpns_games::spec::{GameSpec, Games, parse_moves};
use jlpns_games::{Game, Goal, Move, OutcomeScale};
use jlpns_link::connect::AddressError;
use jlpns_link::credentials::{CredentialFlags, Credentials};
use jlpns_link::whereabouts::Whereabouts;
use jlpns_proto::{MAX_LABEL, MAX_PRIORITY, MAX_SLOTS};
use jlpns_queue::entry::State;
use jlpns_search::graph::Selection;
use jlpns_search::search::Store;
use jlpns_search::{Algorithm, Initialisation};
pub use jlpns_shell::capacity::memory;
use jlpns_simulate::CoordinatorCost;
use jlpns_solve::belief::Confirm;

use super::CommandError;

/// The most virtual workers.
const MOST_WORKERS: u32 = 1 << 16;
/// The longest time that a flag takes: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

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
    one_of(Initialisation::ALL.map(|initialisation| (initialisation.name(), initialisation)))
}

/// `locking`, `virtual-win` or `virtual-loss`.
pub fn selection() -> impl TypedValueParser<Value = Selection> {
    one_of(Selection::ALL.map(|selection| (selection.name(), selection)))
}

/// `answer`, `sample`, `none` or `proof`.
pub fn confirm() -> impl TypedValueParser<Value = Confirm> {
    one_of(
        [Confirm::Answer, Confirm::Sample, Confirm::None, Confirm::Proof]
            .map(|what| (what.name(), what)),
    )
}

/// Where an entry of a queue stands.
pub fn entry_state() -> impl TypedValueParser<Value = State> {
    one_of(State::ALL.map(|state| (state.name(), state)))
}

/// The game. Not read by clap, which would repeat a text of any length in its message.
pub fn spec(text: &str, games: &Games) -> Result<GameSpec, CommandError> {
    games.spec(text).map_err(|e| CommandError::bad_value("SPEC", text, e))
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

/// Where the coordinator is, at one of these URLs, with what the files of the flags hold.
pub fn coordinator(urls: &str, credentials: Credentials) -> Result<Whereabouts, CommandError> {
    Whereabouts::given(urls, credentials).map_err(|error| {
        let (url, reason) = match error {
            AddressError::Malformed(url) => (url, "write http://HOST:PORT or https://HOST:PORT"),
            AddressError::NoPort(url) => (url, "it has no port; write http://HOST:PORT"),
            AddressError::NoAuthority(url) => (
                url,
                "an encrypted connection needs the coordinator's CA, with --ca; for a plain one \
                 write http://HOST:PORT",
            ),
            AddressError::Plain(url) => (
                url,
                "a plain connection has no use for --ca, --cert and --tls-name; write \
                 https://HOST:PORT",
            ),
        };
        CommandError::bad_value("URL", &url, reason)
    })
}

/// What the files of the flags hold; warnings go to stderr.
pub fn credentials(flags: &CredentialFlags) -> Result<Credentials, CommandError> {
    let (credentials, warnings) =
        flags.read().map_err(|error| CommandError::BadInput(error.to_string()))?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    Ok(credentials)
}

/// A whole number from `least` to `most`.
fn whole<T>(text: &str, least: T, most: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse::<T>().ok().filter(|n| (&least..=&most).contains(&n));
    number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
}

/// An address to listen on, as it was given, and what it stands for.
#[derive(Clone, Debug)]
pub struct Listen {
    text: String,
    /// The addresses, of which the first that can be had is taken; at least one.
    pub addresses: Vec<SocketAddr>,
}

impl Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An address to listen on, or the name of one, as it is written.
pub fn listen(text: &str) -> Result<String, String> {
    let is_named = text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && port.parse::<u16>().is_ok() && !host.contains(char::is_whitespace)
    });
    if !is_named {
        return Err(
            "write a host and a port, such as 127.0.0.1:7070, localhost:7070, 0.0.0.0:7070 or \
                    [::1]:0"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// What it stands for.
pub fn look_up(text: &str) -> Result<Listen, CommandError> {
    let refused = |why: String| CommandError::bad_value("--listen", text, why);
    let addresses = text.to_socket_addrs().map_err(|error| {
        refused(format!(
            "there is no such host ({error}); write a name or an address of this machine"
        ))
    })?;
    let mut addresses: Vec<SocketAddr> = addresses.collect();
    // A name may stand for both kinds, and workers are more often told the older.
    addresses.sort_by_key(SocketAddr::is_ipv6);
    if addresses.is_empty() {
        return Err(refused("this host has no address; write one of this machine".to_owned()));
    }
    Ok(Listen { text: text.to_owned(), addresses })
}

/// A time in seconds, from none to a week.
pub fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { seconds(text) }
}

/// A number of slots, or `auto`.
pub fn slots(text: &str) -> Result<u32, String> {
    jlpns_shell::capacity::slots(text, MAX_SLOTS)
}

/// A number of virtual workers.
pub fn workers(text: &str) -> Result<u32, String> {
    whole(text, 1, MOST_WORKERS)
}

/// How many moves of a line to show.
pub fn line_length(text: &str) -> Result<u32, String> {
    whole(text, 0, 1_000_000)
}

/// A number of rounds.
pub fn rounds(text: &str) -> Result<u32, String> {
    whole(text, 1, 1000)
}

/// The seed of what is drawn.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX)
}

/// A length of time with its unit, such as `0.5ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).ok().filter(|&d| d <= LONGEST);
    duration.ok_or_else(|| "write a length of time up to a year, such as 0.5ms or 2h".to_owned())
}

/// `real`, or a number of microseconds.
pub fn coordinator_cost(text: &str) -> Result<CoordinatorCost, String> {
    if text == "real" {
        return Ok(CoordinatorCost::Real);
    }
    let most = LONGEST.as_micros() as f64;
    let cost = text.parse::<f64>().ok().filter(|micros| (0.0..=most).contains(micros));
    let cost = cost.map(|micros| Duration::from_nanos((micros * 1000.0).round() as u64));
    cost.map(CoordinatorCost::Fixed)
        .ok_or_else(|| "write a number of microseconds, such as 20 or 0.5, or 'real'".to_owned())
}

/// A share from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, such as 0.1".to_owned())
}

/// One slot for each core.
pub fn cores() -> u32 {
    jlpns_shell::capacity::cores(MAX_SLOTS)
}

/// A number of nodes, from 1.
pub fn node_count(text: &str) -> Result<u64, String> {
    whole(text, 1, u64::MAX)
}

/// The weight of an entry of a queue.
pub fn priority(text: &str) -> Result<u32, String> {
    whole(text, 1, MAX_PRIORITY)
}

/// How long an entry of a queue may be worked on.
pub fn most_time(text: &str) -> Result<Duration, String> {
    let time = duration(text).ok().filter(|time| time.as_millis() > 0);
    time.ok_or_else(|| "write a length of time from 1ms to a year, such as 90s or 2h".to_owned())
}

/// What the submitter calls an entry of a queue.
pub fn label(text: &str) -> Result<String, String> {
    if text.chars().count() > MAX_LABEL || text.chars().any(char::is_control) {
        return Err(format!(
            "write at most {MAX_LABEL} characters, none of them a control character"
        ));
    }
    Ok(text.to_owned())
}

/// A finite number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "write a number above 0, such as 1800 or 0.25".to_owned())
}

/// A time in seconds, from a tenth to a week.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|n| (0.1..=604_800.0).contains(n));
    let number = number.ok_or("write a number of seconds from 0.1 to 604800, such as 30")?;
    Ok(Duration::from_secs_f64(number))
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
    fn times_have_units_and_limits() {
        assert_eq!(duration("0.5ms"), Ok(Duration::from_micros(500)));
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        for bad in ["", "5", "-1s", "1 parsec", "99999999999999999999s", "2years", "nan"] {
            assert!(duration(bad).unwrap_err().contains("0.5ms"), "{bad}");
        }
        let fixed = |micros| Ok(CoordinatorCost::Fixed(Duration::from_micros(micros)));
        assert_eq!(coordinator_cost("20"), fixed(20));
        assert_eq!(coordinator_cost("0"), fixed(0));
        assert_eq!(coordinator_cost("real"), Ok(CoordinatorCost::Real));
        for bad in ["", "-1", "20us", "NaN", "inf", "1e30", "REAL"] {
            assert!(coordinator_cost(bad).unwrap_err().contains("or 'real'"), "{bad}");
        }
    }

    #[test]
    fn numbers_are_in_range() {
        assert_eq!((workers("1"), workers("65536")), (Ok(1), Ok(65_536)));
        assert_eq!((share("0"), share("1"), seed("0")), (Ok(0.0), Ok(1.0), Ok(0)));
        for bad in ["-0.1", "1.1", "NaN", "", "10%"] {
            assert!(share(bad).is_err(), "{bad}");
        }
        assert!(workers("0").is_err() && workers("65537").is_err() && seed("-1").is_err());
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
