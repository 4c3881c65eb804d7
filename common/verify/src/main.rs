//! `jlpns-verify`: checks a certificate.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use jlpns_verify::command::{Arguments, run};

/// Checks a certificate, which shows what a position is worth: layer by layer, with nothing but the rules.
///
/// Exit codes: 0 every claim is proved; 1 the file does not show what it claims; 2 anything else.
#[derive(Parser)]
#[command(name = "jlpns-verify", version)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
}

fn main() -> ExitCode {
    run(&Command::parse().arguments, true).into()
}
