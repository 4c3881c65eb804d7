//! Compiles the wire contract without a protoc binary, and keeps its descriptors for reflection.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use protox::prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=jlpns");
    // Whoever builds a release says from what: asked of git here, each commit would build all anew.
    println!("cargo::rerun-if-env-changed=JLPNS_COMMIT");
    let commit = env::var("JLPNS_COMMIT").unwrap_or_else(|_| "of a working tree".to_owned());
    println!("cargo::rustc-env=JLPNS_COMMIT={commit}");
    let descriptors = protox::compile(["jlpns/v1/solver.proto", "jlpns/v1/journal.proto"], ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("jlpns.v1.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
