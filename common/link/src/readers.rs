//! Who can read a file that holds a secret.

use std::fs;
use std::os::unix::fs::PermissionsExt;
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
