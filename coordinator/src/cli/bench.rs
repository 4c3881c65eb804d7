//! `jlpns bench`: the standard measurements, as ratios to a plain alpha-beta.
//!
//! Each measurement is a process of its own, so that none finds what another left in memory; a
//! round runs all of them for a game one after the other, and what is told is the median of the
//! rounds.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use jlpns_games::spec::{AnyGame, GameSpec, Games};
use jlpns_search::baseline;
use serde::{Deserialize, Serialize};

use super::output::{self, Output, grouped};
use super::{CommandError, End, values};

/// The games, if none are named.
const GAMES: [&str; 4] = ["connect4:6x5", "connect4:7x5", "connect4:6x6", "woodpush:12"];

/// What `jlpns bench` is given.
#[derive(Debug, clap::Args)]
pub struct BenchFlags {
    /// The games to measure in the place of four that take seconds
    specs: Vec<String>,

    /// How often each measurement is made
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = values::rounds)]
    #[arg(env = "JLPNS_ROUNDS")]
    rounds: u32,

    /// Measure only what has this in its name, and the plain alpha-beta
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    #[arg(env = "JLPNS_ONLY")]
    only: String,

    /// How the result is printed
    #[arg(long, value_enum, default_value_t, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// A command of this program that is measured.
struct Measured {
    name: &'static str,
    args: &'static [&'static str],
}

/// What is measured against the baseline. The default of a solve is what its game has: of Connect Four PDS
/// and alpha-beta beside each other, of Woodpush PDS alone.
const MEASURED: [Measured; 11] = [
    Measured { name: "search, alpha-beta", args: &["search"] },
    Measured {
        name: "search, PDS",
        args: &["search", "--algorithm", "pds", "--init", "mobility", "--knowledge", "true"],
    },
    Measured {
        name: "search, df-pn",
        args: &["search", "--algorithm", "dfpn", "--init", "mobility", "--knowledge", "true"],
    },
    Measured { name: "solve, one slot, default", args: &["solve", "--slots", "1"] },
    Measured { name: "solve, two slots, default", args: &["solve", "--slots", "2"] },
    Measured {
        name: "solve, two slots, PDS",
        args: &["solve", "--slots", "2", "--sub-search", "pds"],
    },
    Measured {
        name: "solve, two slots, alpha-beta",
        args: &["solve", "--slots", "2", "--sub-search", "alpha-beta"],
    },
    Measured {
        name: "solve, two slots, df-pn",
        args: &["solve", "--slots", "2", "--sub-search", "dfpn"],
    },
    Measured {
        name: "solve, two slots, PDS-PN",
        args: &["solve", "--slots", "2", "--sub-search", "pds-pn"],
    },
    Measured {
        name: "solve, two slots, PN2",
        args: &["solve", "--slots", "2", "--sub-search", "pn2"],
    },
    Measured {
        name: "solve, two slots, GPNS-PN2",
        args: &["solve", "--slots", "2", "--sub-search", "gpns-pn2"],
    },
];

/// A configuration file that sets nothing.
const NO_FILE: &str = "/dev/null";

/// The name of the baseline.
const BASELINE: &str = "plain alpha-beta";

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    spec: String,
    name: &'static str,
    value: String,
    nodes: u64,
    /// The median of the rounds.
    seconds: f64,
    /// How many times as fast as the plain alpha-beta; `None` where that cannot run.
    ratio: Option<f64>,
}

/// What is read of the result of a command.
#[derive(Deserialize)]
struct Told {
    value: Option<String>,
    last_move: Option<u32>,
    nodes: u64,
    seconds: f64,
}

/// One measurement.
struct Measurement {
    value: String,
    nodes: u64,
    seconds: f64,
}

/// Measures, and prints the table.
pub fn run(flags: &BenchFlags, games: &Games) -> Result<End, CommandError> {
    let specs = flags.specs.iter().map(String::as_str);
    let specs: Vec<&str> = if flags.specs.is_empty() { GAMES.to_vec() } else { specs.collect() };
    let specs = specs.into_iter().map(|spec| values::spec(spec, games));
    let specs: Vec<GameSpec> = specs.collect::<Result<_, _>>()?;
    if !MEASURED.iter().any(|measured| measured.name.contains(&flags.only)) {
        let names = MEASURED.map(|measured| measured.name).join("; ");
        let reason = format!("nothing that is measured has this in its name; there is: {names}");
        return Err(CommandError::bad_value("--only", &flags.only, reason));
    }
    let mut rows = Vec::new();
    for spec in &specs {
        rows.extend(measure(spec, flags)?);
    }
    match flags.output {
        Output::Json => output::print_json(&rows)?,
        Output::Text => output::print_text(&table(&rows, flags.rounds))?,
    }
    Ok(End::Solved)
}

/// All lines of one game.
fn measure(spec: &GameSpec, flags: &BenchFlags) -> anyhow::Result<Vec<Row>> {
    let mut rounds: BTreeMap<usize, Vec<Measurement>> = BTreeMap::new();
    for _ in 0..flags.rounds {
        if let Some(measurement) = plain(spec) {
            rounds.entry(0).or_default().push(measurement);
        }
        for (index, measured) in (1..).zip(&MEASURED) {
            if measured.name.contains(&flags.only) {
                rounds.entry(index).or_default().push(command(spec, measured)?);
            }
        }
    }
    let baseline = rounds.get(&0).map(|measurements| median(measurements));
    let rows = rounds.iter().map(|(&index, measurements)| {
        let seconds = median(measurements);
        let last = measurements.last().expect("there is a round");
        Row {
            spec: spec.to_string(),
            name: index.checked_sub(1).map_or(BASELINE, |index| MEASURED[index].name),
            value: last.value.clone(),
            nodes: last.nodes,
            seconds,
            ratio: baseline.map(|baseline| baseline / seconds),
        }
    });
    let rows: Vec<Row> = rows.collect();
    if let Some(other) = rows.iter().find(|row| row.value != rows[0].value) {
        bail!("{spec}: '{}' and '{}' find other values", rows[0].name, other.name);
    }
    Ok(rows)
}

/// The baseline, in this process; `None` if it cannot solve this game.
fn plain(spec: &GameSpec) -> Option<Measurement> {
    let AnyGame::Connect4(game) = spec.game() else { return None };
    if spec.is_by_distance() {
        return None;
    }
    let begin = Instant::now();
    let solved = baseline::solve(game.width(), game.height()).ok()?;
    let seconds = begin.elapsed().as_secs_f64();
    let value = jlpns_games::Game::scale(game).name(solved.value).to_owned();
    Some(Measurement { value, nodes: solved.nodes, seconds })
}

/// A command of this program, in a process of its own.
fn command(spec: &GameSpec, measured: &Measured) -> anyhow::Result<Measurement> {
    let program = std::env::current_exe().context("this program has no path")?;
    let mut command = Command::new(program);
    command.args(measured.args).args([spec.as_str(), "--output", "json"]);
    // What is measured are the searches by these names and the defaults, whatever is set here.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(name)) {
        command.env_remove(name);
    }
    command.args(["--config", NO_FILE]);
    let ended = command.stdin(Stdio::null()).output().context("this program cannot be run")?;
    if !ended.status.success() {
        let why = String::from_utf8_lossy(&ended.stderr);
        bail!("'{}' on {spec} ended with {}: {}", measured.name, ended.status, why.trim());
    }
    let told: Told = serde_json::from_slice(&ended.stdout).context("no result was told")?;
    let value = told.value.context("no value was found")?;
    let value = match told.last_move {
        Some(last_move) => format!("{value} on move {last_move}"),
        None => value,
    };
    Ok(Measurement { value, nodes: told.nodes, seconds: told.seconds })
}

/// Whether this is the name of an environment variable that sets something.
fn is_setting(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"JLPNS_") || name == "RUST_LOG"
}

/// The median of the seconds.
fn median(measurements: &[Measurement]) -> f64 {
    let mut seconds: Vec<f64> = measurements.iter().map(|m| m.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// The machine that the figures are of: its cores, and what it calls them if it says so.
fn machine() -> String {
    let cores = values::cores();
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    match model.and_then(|line| line.split_once(':')) {
        Some((_, model)) => format!("{cores} cores of {}", model.trim()),
        None => format!("{cores} cores ({})", std::env::consts::ARCH),
    }
}

fn table(rows: &[Row], rounds: u32) -> String {
    let mut text =
        format!("{}; medians of {rounds} rounds; ratio: times as fast as {BASELINE}", machine());
    let mut spec = "";
    for row in rows {
        if row.spec != spec {
            spec = &row.spec;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n\n{spec}: {}", row.value);
            let _ = write!(text, "\n{:<30} {:>10} {:>8} {:>15}", "", "seconds", "ratio", "nodes");
        }
        let ratio = row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        let (name, nodes) = (row.name, grouped(row.nodes));
        let _ = write!(text, "\n{name:<30} {:>10.3} {ratio:>8} {nodes:>15}", row.seconds);
    }
    text
}
