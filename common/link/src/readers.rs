//! Who can read a file that holds a secret.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Where container runtimes put secrets, with modes that whoever runs in the container cannot
/// choose, and where nobody else is.
const MOUNTED_SECRETS: &str = "/run/secrets";

/// A sentence of warning if everybody on this machine can read the file.
pub fn readable_by_all(path: &Path) -> Option<String> {
    if path.starts_with(MOUNTED_SECRETS) {
        return None;
    }
    let mode = fs::metadata(path).ok()?.permissions().mode();
    let shown = path.display();
    (mode & 0o004 != 0).then(|| {
        format!(
            "{shown} holds a secret, and everybody on this machine can read it; \
             chmod 600 {shown} keeps it from them"
        )
    })
}

/// Why this process may not read a file, and who may; what else to do, for other errors.
pub fn refusal(path: &Path, error: &io::Error, otherwise: &str) -> String {
    let facts = || {
        // Who runs this process owns what the system shows of it.
        let user = fs::metadata("/proc/self").ok()?.uid();
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((user, file.uid(), file.permissions().mode() & 0o777))
    };
    match facts().filter(|_| error.kind() == ErrorKind::PermissionDenied) {
        Some((user, owner, mode)) => format!(
            "{error}: its mode is {mode:03o}, it belongs to user {owner}, and this process runs as user \
             {user}; give it to that user (chown {user}), or let all read it (chmod 644) in a folder \
             that is closed to others"
        ),
        None => format!("{error}; {otherwise}"),
    }
}
