//! The coordinator file: where a coordinator is at present, for those that see the same folder.
//!
//! It is one line, with what `--coordinator` takes. It appears under its name when it is whole, and it is there as long
//! as its coordinator is: a coordinator that ends takes it away, unless another one has put its own there. One that is
//! killed leaves it, and the next one writes over it.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::connect::AddressError;

/// More than any list of addresses has, in bytes.
const MOST_BYTES: u64 = 1 << 16;

/// All may read where the coordinator is, as far as the user's mask allows it.
const MODE: u32 = 0o644;

/// Why the file does not say where the coordinator is. All of it may pass.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorFileError {
    /// There is no such file.
    #[error("the coordinator file {} is not there; the coordinator writes it when it listens", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("the coordinator file {} cannot be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It holds something else.
    #[error("the coordinator file {} {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: ContentFault,
    },
    /// What it holds is no address to connect to.
    #[error("the coordinator file {} is of no use: {cause}", path.display())]
    Address {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: AddressError,
    },
}

/// What is wrong with the text of a coordinator file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentFault {
    /// Nothing in it.
    #[error("is empty; it should hold a line such as http://HOST:PORT")]
    Empty,
    /// A line without an end: some of it may be missing.
    #[error("is half-written: its line does not end")]
    HalfWritten,
    /// More than one line, or no text.
    #[error("is no coordinator file; it should hold one line such as http://HOST:PORT")]
    NoLine,
}

/// What a coordinator file says, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The address, or several with commas between.
    pub urls: String,
    /// When it was written, as far as the system says.
    pub written: Option<SystemTime>,
}

/// The address in these bytes, or the addresses.
fn line(bytes: &[u8]) -> Result<&str, ContentFault> {
    let text = str::from_utf8(bytes).map_err(|_| ContentFault::NoLine)?;
    if text.trim().is_empty() {
        return Err(ContentFault::Empty);
    }
    let line = text.strip_suffix('\n').ok_or(ContentFault::HalfWritten)?.trim();
    if line.contains(|c: char| c.is_control()) || bytes.len() as u64 > MOST_BYTES {
        return Err(ContentFault::NoLine);
    }
    Ok(line)
}

/// Reads the file.
pub fn read(path: &Path) -> Result<Told, CoordinatorFileError> {
    let unreadable = |cause: io::Error| match cause.kind() {
        ErrorKind::NotFound => CoordinatorFileError::Missing(path.to_owned()),
        _ => CoordinatorFileError::Unreadable { path: path.to_owned(), cause },
    };
    let file = File::open(path).map_err(unreadable)?;
    let written = file.metadata().and_then(|metadata| metadata.modified()).ok();
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    match line(&bytes) {
        Ok(urls) => Ok(Told { urls: urls.to_owned(), written }),
        Err(fault) => Err(CoordinatorFileError::Content { path: path.to_owned(), fault }),
    }
}

/// A file that says where a coordinator is, and is taken away with this value.
#[derive(Debug)]
pub struct CoordinatorFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl CoordinatorFile {
    /// Writes the file in place of any that was there. Who reads it sees the old one or the new one, and also a machine
    /// that fails leaves one of them.
    pub fn write(path: &Path, url: &str) -> io::Result<CoordinatorFile> {
        let bytes = format!("{url}\n").into_bytes();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut new = tempfile::Builder::new()
            .prefix(".coordinator-")
            .permissions(Permissions::from_mode(MODE))
            .tempfile_in(folder)?;
        new.write_all(&bytes)?;
        new.as_file().sync_all()?;
        new.persist(path)?;
        // Some file systems have no use for it, and say so.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(CoordinatorFile { path: path.to_owned(), bytes })
    }
}

impl Drop for CoordinatorFile {
    fn drop(&mut self) {
        // A coordinator that goes on with the same solve may have written its own.
        if fs::read(&self.path).is_ok_and(|bytes| bytes == self.bytes) {
            // If it cannot be taken away, those who believe it find nobody, as after a kill.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_line_is_an_address_and_nothing_else_is() {
        assert_eq!(line(b"http://a:1\n"), Ok("http://a:1"));
        assert_eq!(line(b" http://a:1,http://b:1 \r\n"), Ok("http://a:1,http://b:1"));
        for empty in [&b""[..], b"\n", b"  \n\n"] {
            assert_eq!(line(empty), Err(ContentFault::Empty), "{empty:?}");
        }
        for cut in ["h", "http://a:1", "http://a:"] {
            assert_eq!(line(cut.as_bytes()), Err(ContentFault::HalfWritten), "{cut}");
        }
        let long = [vec![b'a'; MOST_BYTES as usize], b"\n".to_vec()].concat();
        for other in [&b"\xff\n"[..], b"http://a:1\nhttp://b:1\n", b"a\x00b\n", &long] {
            assert_eq!(line(other), Err(ContentFault::NoLine));
        }
    }

    #[test]
    fn it_is_there_as_long_as_its_coordinator() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("url");
        assert!(matches!(read(&path), Err(CoordinatorFileError::Missing(_))));
        let first = CoordinatorFile::write(&path, "http://a:1").expect("written");
        let told = read(&path).expect("whole");
        assert_eq!(told.urls, "http://a:1");
        assert!(told.written.is_some());
        // Nothing else is left in the folder.
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        let second = CoordinatorFile::write(&path, "http://b:2").expect("written over");
        drop(first);
        assert_eq!(read(&path).expect("of the second").urls, "http://b:2");
        drop(second);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = CoordinatorFile::write(&folder.path().join("no/url"), "http://a:1");
        assert_eq!(error.expect_err("no folder").kind(), ErrorKind::NotFound);
        assert!(matches!(read(folder.path()), Err(CoordinatorFileError::Unreadable { .. })));
    }
}
