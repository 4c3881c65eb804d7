//! `jlpns-verify`: checks a certificate.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use jlpns_verify::command::{Program, run};

fn main() -> ExitCode {
    run(&Program::parse().arguments, true).into()
}
