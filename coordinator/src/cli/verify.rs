//! `jlpns verify`: checks a certificate, as `jlpns-verify` does.

use jlpns_verify::command::{self, Arguments};

use super::{End, terminal};

/// Checks the certificate, prints what came of it, and ends as `jlpns-verify` does.
pub fn run(arguments: &Arguments) -> End {
    match command::run(arguments, terminal::is_shown()) {
        0 => End::Solved,
        1 => End::Failed,
        _ => End::BadInput,
    }
}
