//! Compiles the wire contract without a protoc binary, and keeps its descriptors for reflection.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use protox::prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=jlpns");
    println!("cargo::rustc-env=JLPNS_COMMIT={}", commit());
    let descriptors = protox::compile(
        [
            "jlpns/v1/solver.proto",
            "jlpns/v1/queue.proto",
            "jlpns/v1/queue_journal.proto",
            "jlpns/v1/journal.proto",
        ],
        ["."],
    )?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("jlpns.v1.bin"), descriptors.encode_to_vec())?;
    // Packed once, they go to many workers.
    let shared = ".jlpns.v1.CoordinatorBatch.solved";
    tonic_prost_build::configure().bytes(shared).compile_fds(descriptors)?;
    Ok(())
}

/// The most characters of a commit's name.
const LONGEST: usize = 64;

/// The commit that is built: what `JLPNS_COMMIT` says, or git; else "unknown".
fn commit() -> String {
    println!("cargo::rerun-if-env-changed=JLPNS_COMMIT");
    let named = env::var("JLPNS_COMMIT").unwrap_or_default();
    let named = named.lines().next().unwrap_or_default().trim();
    if !named.is_empty() {
        return named.chars().take(LONGEST).collect();
    }
    // While somebody develops, each commit would build all anew.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    is_release.then(of_git).flatten().unwrap_or_else(|| "unknown".to_owned())
}

fn of_git() -> Option<String> {
    // Sources that were unpacked within somebody else's repository are not of its commits.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let places = ["logs/HEAD", "HEAD"].map(|place| git(&["rev-parse", "--git-path", place]));
    if let Some(place) = places.into_iter().flatten().find(|place| Path::new(place).exists()) {
        println!("cargo::rerun-if-changed={place}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// What git says; `None` if it is not there or fails.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}
