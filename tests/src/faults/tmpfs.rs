//! A small disk that can be filled.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

/// A tmpfs of its own; it is unmounted when this value is dropped.
#[derive(Debug)]
pub struct Tmpfs {
    directory: TempDir,
}

impl Tmpfs {
    /// A disk of so many bytes; `None` if this user may not mount one.
    ///
    /// # Panics
    ///
    /// If there is no room for a directory.
    pub fn mount(bytes: u64) -> Option<Tmpfs> {
        let directory = tempfile::tempdir().expect("a directory");
        let size = std::ffi::CString::new(format!("size={bytes}")).expect("no zero in a number");
        mount("tmpfs", directory.path(), "tmpfs", MountFlags::empty(), Some(&*size)).ok()?;
        Some(Tmpfs { directory })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Fills it to the last byte; how many bytes that took.
    ///
    /// # Panics
    ///
    /// If writing fails for another reason than a full disk.
    pub fn fill(&self) -> u64 {
        let mut file = File::create(self.ballast()).expect("a full disk still takes a name");
        let mut filled = 0;
        for size in [1 << 16, 1 << 12, 1] {
            loop {
                match file.write(&vec![0; size]) {
                    Ok(0) => break,
                    Ok(written) => filled += written as u64,
                    Err(error) if error.kind() == io::ErrorKind::StorageFull => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        filled
    }

    /// Makes room again.
    pub fn clear(&self) {
        // It may not have been filled.
        let _ = fs::remove_file(self.ballast());
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Lazily: a process that is about to end may have a file open.
        let _ = unmount(self.path(), UnmountFlags::DETACH);
    }
}
