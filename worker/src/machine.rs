//! What tells this machine from others, also after a restart: what one machine claims, another has to
//! confirm, and a bad one must not be new each time that its worker is started.

use std::fs;
use std::hash::Hasher;
use std::path::Path;

use siphasher::sip128::{Hasher128, SipHasher13};

/// Where systems keep what tells machines apart. The last one lasts until the next start of the
/// system only, and is there in the emptiest of containers.
const SOURCES: [&str; 3] =
    ["/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id"];

/// What tells this machine from others; empty if the system does not say. It is a hash: the system's
/// own identity is nobody else's business.
pub fn identity() -> String {
    let found = SOURCES.iter().find_map(|source| read(Path::new(source)));
    found.map_or_else(String::new, |text| hashed(&text))
}

fn read(source: &Path) -> Option<String> {
    let text = fs::read_to_string(source).ok()?;
    let text = text.trim();
    // It is there and not set while a system is being installed.
    (text.len() >= 32 && text.is_ascii()).then(|| text.to_owned())
}

fn hashed(text: &str) -> String {
    let mut hasher = SipHasher13::new_with_key(b"jlpns machine id");
    hasher.write(text.as_bytes());
    format!("{:032x}", hasher.finish128().as_u128())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_each_time_and_not_the_systems_own() {
        let identity = identity();
        assert_eq!(identity, super::identity());
        let secret = "0123456789abcdef0123456789abcdef";
        assert_eq!(hashed(secret).len(), 32);
        assert_ne!(hashed(secret), secret);
        assert_ne!(hashed(secret), hashed("0123456789abcdef0123456789abcdee"));
    }

    #[test]
    fn what_is_not_set_is_passed_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("machine-id");
        assert_eq!(read(&file), None);
        for unset in ["", "uninitialized\n"] {
            fs::write(&file, unset).expect("written");
            assert_eq!(read(&file), None);
        }
        fs::write(&file, "0123456789abcdef0123456789abcdef\n").expect("written");
        assert_eq!(read(&file).as_deref(), Some("0123456789abcdef0123456789abcdef"));
    }
}
