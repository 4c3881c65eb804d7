//! The command line of `jlpns-verify`, which `jlpns verify` shares.
//!
//! Exit codes: 0 the whole file was read and every claim holds; 1 the file does not show what it claims;
//! 2 it is no readable certificate, or the check itself could not be done.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::Context;
use bytesize::ByteSize;
use clap::{Args, Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{Boards, Certificate, Claim, Failure, Proved, Reader, Settings, Transcript};

/// The versions of the program, of its sources and of the certificates that it reads.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let (version, commit) = (env!("CARGO_PKG_VERSION"), option_env!("JLPNS_COMMIT"));
    let commit = commit.filter(|commit| !commit.is_empty()).unwrap_or("unknown");
    format!("{version}\ncommit {commit}\ncertificate 1")
});

/// Checks a certificate, which shows what a position is worth: layer by layer, with nothing but the rules.
///
/// Exit codes: 0 every claim is proved; 1 the file does not show what it claims; 2 anything else.
#[derive(Debug, Parser)]
#[command(name = "jlpns-verify", version, long_version = LONG_VERSION.as_str())]
pub struct Program {
    /// What it is given.
    #[command(flatten)]
    pub arguments: Arguments,
}

/// What the command is given.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The certificate; `-` is standard input.
    file: PathBuf,
    /// How many threads play moves [default: all cores].
    #[arg(long, value_parser = threads, env = "JLPNS_THREADS")]
    threads: Option<NonZero<usize>>,
    /// About how much memory the positions may take, as 500MiB or 2GiB; more of them are spilled to disk.
    #[arg(long, default_value = "1GiB", value_parser = size, env = "JLPNS_MEMORY")]
    memory: usize,
    /// Where to spill [default: the system's directory for temporary files].
    #[arg(long, env = "JLPNS_SCRATCH")]
    scratch: Option<PathBuf>,
    /// Write the numbers down as text as well, for readers that should be as small as possible; Connect Four.
    #[arg(long, value_name = "FILE", env = "JLPNS_PLAIN")]
    plain: Option<PathBuf>,
    /// How to tell the result.
    #[arg(long, value_enum, default_value_t = Output::Text, env = "JLPNS_OUTPUT")]
    output: Output,
}

/// How the result is told.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    /// One sentence.
    Text,
    /// One JSON object.
    Json,
}

/// Checks the certificate, and tells what came of it; on a terminal with its progress, if that is to be shown. Gives
/// the exit code.
pub fn run(arguments: &Arguments, shows_progress: bool) -> u8 {
    let begun = Instant::now();
    let result = checked(arguments, shows_progress);
    let code = match &result {
        Ok(_) => 0,
        Err(error) => match error.downcast_ref() {
            Some(Failure::Fails(_)) => 1,
            _ => 2,
        },
    };
    tell(arguments, &result, begun.elapsed()).map_or(2, |()| code)
}

fn checked(arguments: &Arguments, shows_progress: bool) -> anyhow::Result<Proved> {
    let mut settings = Settings { memory: arguments.memory, ..Settings::default() };
    settings.threads = arguments.threads.unwrap_or(settings.threads);
    settings.scratch = arguments.scratch.clone().unwrap_or(settings.scratch);
    let path = &arguments.file;
    let input: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?),
    };
    let Some(plain) = &arguments.plain else {
        return with_progress(Certificate::open(input)?, &settings, shows_progress, &mut ());
    };
    let cannot = || format!("cannot write {}", plain.display());
    let transcribed = |mut output: BufWriter<&File>| {
        let certificate = Certificate::open(input)?;
        let mut transcript = Transcript::begin(certificate.header(), &mut output)?;
        let proved = with_progress(certificate, &settings, shows_progress, &mut transcript)?;
        transcript.end()?;
        Ok(proved)
    };
    if plain.exists() && !plain.is_file() {
        return transcribed(BufWriter::new(&File::create(plain).with_context(cannot)?));
    }
    // It takes its name when all is proved: what is not is not left to be read, and destroys nothing.
    let folder = plain.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut unproved = tempfile::Builder::new();
    let unproved = unproved.prefix(".jlpns-plain-").permissions(Permissions::from_mode(0o666));
    let unproved = unproved.tempfile_in(folder.unwrap_or(Path::new("."))).with_context(cannot)?;
    let proved = transcribed(BufWriter::new(unproved.as_file()))?;
    unproved.persist(plain).with_context(cannot)?;
    Ok(proved)
}

/// Checks a certificate, with its progress on a terminal.
fn with_progress(
    certificate: Certificate<impl Read>,
    settings: &Settings,
    shows_progress: bool,
    reader: &mut dyn Reader,
) -> anyhow::Result<Proved> {
    if !shows_progress || !io::stderr().is_terminal() {
        return Ok(certificate.check(settings, reader)?);
    }
    let style = ProgressStyle::with_template(
        "{msg} {wide_bar} {human_pos}/{human_len} positions, {per_sec}",
    )?;
    let header = certificate.header();
    let total =
        header.claims.iter().fold(0u64, |total, claim| total.saturating_add(claim.positions));
    let bar = ProgressBar::new(total).with_style(style).with_message(header.spec.clone());
    let result = certificate.check(settings, &mut Shown { bar: &bar, reader });
    bar.finish_and_clear();
    Ok(result?)
}

/// Shows how far somebody has read.
struct Shown<'a> {
    bar: &'a ProgressBar,
    reader: &'a mut dyn Reader,
}

impl Reader for Shown<'_> {
    fn claim_begins(&mut self, claim: &Claim) -> Result<(), Failure> {
        self.reader.claim_begins(claim)
    }

    fn moves(&mut self, claim: &Claim, boards: Boards<'_>, entries: &[u8]) -> Result<(), Failure> {
        self.bar.inc(boards.len() as u64);
        self.reader.moves(claim, boards, entries)
    }

    fn layer_ended(&mut self) -> Result<(), Failure> {
        self.reader.layer_ended()
    }
}

fn tell(arguments: &Arguments, result: &anyhow::Result<Proved>, time: Duration) -> io::Result<()> {
    let seconds = time.as_secs_f64();
    match (arguments.output, result) {
        (Output::Text, Ok(proved)) => {
            writeln!(io::stdout(), "proved: {proved} in {seconds:.1} s, sha256 {}", proved.sha256)
        }
        (Output::Json, Ok(proved)) => {
            let object = serde_json::json!({
                "proved": true,
                "spec": proved.header.spec,
                "moves": proved.header.moves,
                "claim": proved.header.claim(),
                "positions": proved.positions,
                "seconds": seconds,
                "sha256": proved.sha256,
            });
            writeln!(io::stdout(), "{object}")
        }
        (Output::Text, Err(error)) => writeln!(io::stderr(), "error: {error:#}"),
        (Output::Json, Err(error)) => {
            writeln!(
                io::stdout(),
                "{}",
                serde_json::json!({"proved": false, "error": format!("{error:#}")})
            )
        }
    }
}

/// A number of threads.
fn threads(text: &str) -> Result<NonZero<usize>, String> {
    let threads =
        text.trim().parse::<NonZero<usize>>().ok().filter(|threads| threads.get() <= 1024);
    threads.ok_or_else(|| format!("{text} is no number of threads; 1 to 1024 would be one"))
}

/// A number of bytes, with B, KiB, MiB or GiB.
fn size(text: &str) -> Result<usize, String> {
    let bytes = text.trim().parse::<ByteSize>().ok();
    let bytes = bytes.and_then(|ByteSize(bytes)| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| format!("{text} is no size; 500MiB or 2GiB would be one"))
}
