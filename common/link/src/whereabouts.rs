//! Where a coordinator is: at an address, at one of several, or where a file says.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tonic::transport;

use crate::causes::with_causes;
use crate::connect::{AddressError, ConnectError, Connector, Dial, TokenChannel, UnknownHost};
use crate::coordinator_file::{self, CoordinatorFileError, Told};
use crate::credentials::Credentials;
use crate::distrust::Distrust;

/// How often a coordinator file is looked at by who waits for it. On shared folders each look may ask a server.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Where a coordinator is.
#[derive(Debug)]
pub struct Whereabouts {
    source: Source,
    /// Which address is the first to try next time.
    next: AtomicUsize,
}

/// Who knows where it is.
#[derive(Debug)]
enum Source {
    /// Whoever has given these addresses; at least one.
    Given(Vec<Dial>),
    /// A file, which is read anew each time.
    File {
        path: PathBuf,
        credentials: Box<Credentials>,
        /// What it said when it was last of use.
        last: Mutex<Option<Told>>,
    },
}

/// The indices of `count` addresses, each once, from `first` on.
fn in_turn(count: usize, first: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |place| (first % count + place) % count)
}

/// The addresses in a list with commas between, each with the same credentials.
fn dials(urls: &str, credentials: &Credentials) -> Result<Vec<Dial>, AddressError> {
    urls.split(',').map(|url| Dial::with(url.trim(), credentials.clone())).collect()
}

impl Whereabouts {
    /// At `URL`, or at one of `URL,URL,...`.
    pub fn given(urls: &str, credentials: Credentials) -> Result<Whereabouts, AddressError> {
        let source = Source::Given(dials(urls, &credentials)?);
        Ok(Whereabouts { source, next: AtomicUsize::new(0) })
    }

    /// Where this file says. It need not be there yet.
    pub fn in_file(path: &Path, credentials: Credentials) -> Whereabouts {
        let (path, credentials) = (path.to_owned(), Box::new(credentials));
        let source = Source::File { path, credentials, last: Mutex::new(None) };
        Whereabouts { source, next: AtomicUsize::new(0) }
    }

    /// The hosts that were given and that nobody knows. What a file says may change.
    pub fn unknown_hosts(&self) -> Vec<UnknownHost> {
        match &self.source {
            Source::Given(dials) => dials.iter().filter_map(|dial| dial.look_up().err()).collect(),
            Source::File { .. } => Vec::new(),
        }
    }

    /// How many addresses were given; 0 if a file says where the coordinator is.
    pub fn given_addresses(&self) -> usize {
        match &self.source {
            Source::Given(dials) => dials.len(),
            Source::File { .. } => 0,
        }
    }

    /// The first of these that answers, beginning with the one after that which has answered last: it is the one that
    /// was lost.
    async fn first_to_answer(&self, dials: &[Dial]) -> Result<TokenChannel, ConnectError> {
        let mut failures: Vec<(&str, transport::Error)> = Vec::new();
        for index in in_turn(dials.len(), self.next.load(Ordering::Relaxed)) {
            let dial = &dials[index];
            match dial.open().await {
                Ok(line) => {
                    self.next.store(index + 1, Ordering::Relaxed);
                    return Ok(line);
                }
                Err(error) => failures.push((dial.url(), error)),
            }
        }
        // Of several, one that is not trusted may be none of the lab's; if all are so, it is us.
        let is_of_all = failures.iter().all(|(_, error)| Distrust::behind(error).is_some());
        if (is_of_all || failures.len() == 1)
            && let Some((_, error)) = failures.pop()
        {
            return Err(error.into());
        }
        let told =
            |(url, error): &(&str, transport::Error)| format!("{url}: {}", with_causes(error));
        Err(ConnectError::NoneOf(failures.iter().map(told).collect()))
    }
}

/// Reads a coordinator file, however long the file system takes.
async fn told(path: &Path) -> Result<Told, CoordinatorFileError> {
    let path = path.to_owned();
    let read = spawn_blocking({
        let path = path.clone();
        move || coordinator_file::read(&path)
    });
    read.await.unwrap_or_else(|gone| {
        Err(CoordinatorFileError::Unreadable { path, cause: std::io::Error::other(gone) })
    })
}

/// What was last read of a file, whatever became of who read it.
fn remembered(last: &Mutex<Option<Told>>) -> std::sync::MutexGuard<'_, Option<Told>> {
    last.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Connector for Whereabouts {
    async fn connect(&self) -> Result<TokenChannel, ConnectError> {
        match &self.source {
            Source::Given(dials) => self.first_to_answer(dials).await,
            Source::File { path, credentials, last } => {
                *remembered(last) = None;
                let told = told(path).await?;
                let dials = dials(&told.urls, credentials)
                    .map_err(|cause| CoordinatorFileError::Address { path: path.clone(), cause });
                *remembered(last) = Some(told);
                self.first_to_answer(&dials?).await
            }
        }
    }

    async fn moved(&self) {
        let Source::File { path, last, .. } = &self.source else {
            return std::future::pending().await;
        };
        loop {
            sleep(LOOK_AGAIN).await;
            if let Ok(told) = told(path).await
                && remembered(last).as_ref() != Some(&told)
            {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn each_address_has_its_turn() {
        let all = |count, first| in_turn(count, first).collect::<Vec<_>>();
        assert_eq!(all(3, 0), [0, 1, 2]);
        assert_eq!(all(3, 2), [2, 0, 1]);
        // After the last one comes the first; also where a file names fewer than it did.
        assert_eq!(all(3, 3), [0, 1, 2]);
        assert_eq!(all(2, 5), [1, 0]);
        assert_eq!(all(1, usize::MAX), [0]);
    }

    #[test]
    fn each_address_of_a_list_is_checked() {
        let given = |urls| Whereabouts::given(urls, Credentials::default());
        assert_eq!(given("http://a:1").expect("one").given_addresses(), 1);
        assert_eq!(given("http://a:1, http://b:2").expect("two").given_addresses(), 2);
        for (bad, part) in [("http://a:1,", ""), (",http://a:1", ""), ("http://a:1,b", "b")] {
            let error = given(bad).expect_err(bad);
            assert_eq!(error, AddressError::Malformed(part.to_owned()), "{bad}");
        }
        let unknown = given("http://localhost:1,http://no-such-host.invalid:1").expect("two");
        assert_eq!(unknown.unknown_hosts().len(), 1);
    }

    /// A listener at which connections come about, and its URL.
    async fn listener() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        (listener, url)
    }

    #[tokio::test]
    async fn the_one_that_answers_is_found_and_the_next_time_the_one_after_it_comes_first() {
        let (gone, gone_url) = listener().await;
        drop(gone);
        let (one, one_url) = listener().await;
        let (two, two_url) = listener().await;
        let urls = [gone_url.as_str(), &one_url, &two_url].join(",");
        let all = Whereabouts::given(&urls, Credentials::default()).expect("three addresses");
        let _first = all.connect().await.expect("one answers");
        one.accept().await.expect("it came to the first that listens");
        let _second = all.connect().await.expect("another answers");
        two.accept().await.expect("it came to the next");
        drop((one, two));
        let error = all.connect().await.expect_err("nobody is left").to_string();
        for url in [&gone_url, &one_url, &two_url] {
            assert!(error.contains(url), "{error}");
        }
        assert!(error.starts_with("none of 3 addresses answers: "), "{error}");
    }

    #[tokio::test]
    async fn a_file_is_read_anew_for_each_connection() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("url");
        let place = Whereabouts::in_file(&path, Credentials::default());
        let fails = async |words: &str| {
            let error = place.connect().await.expect_err(words).to_string();
            assert!(error.contains(words) && error.contains("coordinator file"), "{error}");
        };
        fails("is not there").await;
        for (text, words) in [
            ("", "is empty"),
            ("http://127.0.0.1:70", "half-written"),
            ("nonsense\n", "'nonsense' is no coordinator address"),
            ("https://127.0.0.1:7070\n", "--ca"),
        ] {
            fs::write(&path, text).expect("written");
            fails(words).await;
        }
        for _ in 0..2 {
            let (there, url) = listener().await;
            fs::write(&path, format!("{url}\n")).expect("written");
            let _line = place.connect().await.expect("it listens");
            there.accept().await.expect("a connection");
        }
    }

    #[tokio::test]
    async fn who_waits_is_told_when_the_file_says_something_new() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("url");
        let place = Whereabouts::in_file(&path, Credentials::default());
        place.connect().await.expect_err("there is no file");
        tokio::time::pause();
        let nothing = timeout(10 * LOOK_AGAIN, place.moved()).await;
        assert!(nothing.is_err(), "there is still no file");
        fs::write(&path, "half").expect("written");
        assert!(timeout(10 * LOOK_AGAIN, place.moved()).await.is_err(), "it is not whole");
        let (there, url) = listener().await;
        fs::write(&path, format!("{url}\n")).expect("written");
        place.moved().await;
        tokio::time::resume();
        let _line = place.connect().await.expect("it listens");
        there.accept().await.expect("a connection");
        tokio::time::pause();
        let nothing = timeout(10 * LOOK_AGAIN, place.moved()).await;
        assert!(nothing.is_err(), "it says what it said");
        let written = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
        // The same address, of a coordinator that was started anew.
        let file = fs::File::options().append(true).open(&path).expect("a file");
        file.set_modified(written + Duration::from_secs(1)).expect("a time that is set");
        place.moved().await;
    }
}
