//! For which machines a worker was built, and what tells one build from another.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// Processors as the system names them, with the number that stands for each in a program's header.
const MACHINES: [(u16, &str); 8] = [
    (3, "i686"),
    (8, "mips"),
    (21, "ppc64le"),
    (22, "s390x"),
    (40, "armv7l"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
];

/// A worker that can be copied to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The processor that it runs on, as `uname -m` names it.
    pub machine: &'static str,
    /// The SHA-256 of its bytes, as hexadecimal digits.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// Why a file is no worker for any host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// It is not in the format of Linux programs.
    #[error("is no program for Linux; give a jlpns-worker that was built for the hosts")]
    NoProgram,
    /// It is for a processor that is not known here.
    #[error(
        "is a program for a processor that is not known (number {0}); give a jlpns-worker that was built for the hosts"
    )]
    UnknownMachine(u16),
}

impl Build {
    /// The build in a file.
    pub fn of(bytes: &[u8]) -> Result<Build, BuildError> {
        let header = bytes.get(..20).filter(|header| header.starts_with(b"\x7fELF"));
        let header = header.ok_or(BuildError::NoProgram)?;
        let number = [header[18], header[19]];
        // The sixth byte says in which order the others are.
        let number = match header[5] {
            2 => u16::from_be_bytes(number),
            _ => u16::from_le_bytes(number),
        };
        let machine = MACHINES.iter().find(|(known, _)| *known == number);
        let (_, machine) = machine.ok_or(BuildError::UnknownMachine(number))?;
        Ok(Build { machine, sha256: sha256(&[bytes]), bytes: bytes.len() as u64 })
    }

    /// Whether it runs on a machine of this name.
    pub fn runs_on(&self, machine: &str) -> bool {
        let alike = [("amd64", "x86_64"), ("arm64", "aarch64"), ("i386", "i686"), ("i586", "i686")];
        let usual = alike.iter().find(|(other, _)| *other == machine).map(|(_, usual)| *usual);
        usual.unwrap_or(machine) == self.machine
    }
}

/// The SHA-256 of some bytes, each with its length before it so that they are told from each other; of one, of its
/// bytes alone.
pub fn sha256(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        if parts.len() > 1 {
            hasher.update((part.len() as u64).to_le_bytes());
        }
        hasher.update(part);
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(order: u8, machine: [u8; 2]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order]);
        bytes[18..20].copy_from_slice(&machine);
        bytes
    }

    #[test]
    fn the_machine_is_in_the_header() {
        let build = Build::of(&header(1, [62, 0])).expect("a program");
        assert_eq!(build.machine, "x86_64");
        assert!(build.runs_on("x86_64") && build.runs_on("amd64") && !build.runs_on("aarch64"));
        assert_eq!(Build::of(&header(1, [183, 0])).expect("a program").machine, "aarch64");
        assert_eq!(Build::of(&header(2, [0, 22])).expect("a program").machine, "s390x");
        assert_eq!(Build::of(&header(1, [1, 1])), Err(BuildError::UnknownMachine(257)));
        for other in [&b"#!/bin/sh\nexit 0 # more than twenty"[..], b"", b"\x7fELF"] {
            assert_eq!(Build::of(other), Err(BuildError::NoProgram));
        }
    }

    #[test]
    fn digests_are_those_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(&[b""]), empty);
        assert_ne!(sha256(&[b"ab", b"c"]), sha256(&[b"a", b"bc"]));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Build::of(&bytes);
            let _ = Build::of(&[b"\x7fELF", &bytes[..]].concat());
        }
    }
}
