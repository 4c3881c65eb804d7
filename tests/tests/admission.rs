//! Admission, with real processes: a lab with keys, what is refused, and that no secret gets out.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jlpns_tests::cluster::{LIMIT, serve, worker_with};
use jlpns_tests::{Ended, Running, jlpns, run};

/// A folder with the keys of a lab.
struct Keys {
    folder: tempfile::TempDir,
}

impl Keys {
    fn new() -> Keys {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lab = folder.path().join("lab");
        let lab = lab.to_str().expect("a path of text");
        let args = ["keys", "init", lab, "--worker", "ann", "--worker", "bob"];
        let ended = run(&mut jlpns(args), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stdout.lines().filter(|line| line.starts_with(lab)).count(), 9);
        let keys = Keys { folder };
        keys.hides_its_secrets(&ended);
        // A second time nothing is overwritten.
        let again = run(&mut jlpns(args), LIMIT);
        assert_eq!(again.code, Some(2), "{again:?}");
        assert!(again.stderr.contains("nothing is overwritten"), "{again:?}");
        keys
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join("lab").join(name).display().to_string()
    }

    fn server(&self) -> Vec<String> {
        let args = [
            ("--token-file", "token"),
            ("--tls-cert", "server.pem"),
            ("--tls-key", "server.key"),
            ("--client-ca", "ca.pem"),
        ];
        self.flags(&args)
    }

    fn client(&self, name: &str) -> Vec<String> {
        let (cert, key) = (format!("{name}.pem"), format!("{name}.key"));
        self.flags(&[
            ("--token-file", "token"),
            ("--ca", "ca.pem"),
            ("--cert", &cert),
            ("--key", &key),
        ])
    }

    fn flags(&self, flags: &[(&str, &str)]) -> Vec<String> {
        flags.iter().flat_map(|(flag, name)| [(*flag).to_owned(), self.path(name)]).collect()
    }

    /// The token, and a part of each private key.
    fn secrets(&self) -> Vec<String> {
        let lab = self.folder.path().join("lab");
        let files = fs::read_dir(lab).expect("the lab").map(|entry| entry.expect("a file").path());
        let secret = |path: &PathBuf| path.extension().is_none_or(|extension| extension == "key");
        let line = |path: PathBuf| {
            let text = fs::read_to_string(path).expect("a file of text");
            let line = text.lines().find(|line| !line.starts_with("-----")).expect("a line");
            line.to_owned()
        };
        files.filter(secret).map(line).collect()
    }

    fn hides_its_secrets(&self, ended: &Ended) {
        self.are_not_in(&ended.stdout, "stdout");
        self.are_not_in(&ended.stderr, "stderr");
    }

    fn are_not_in(&self, text: &str, place: &str) {
        let secrets = self.secrets();
        assert_eq!(secrets.len(), 5);
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "a secret in {place}: {text}");
    }

    /// What `ps` shows of a process, of its arguments and of its environment.
    fn are_not_shown_of(&self, process: &Running) {
        for what in ["cmdline", "environ"] {
            let path = format!("/proc/{}/{what}", process.id());
            let shown = fs::read(&path).expect("a process that runs");
            self.are_not_in(&String::from_utf8_lossy(&shown), &path);
        }
    }
}

fn texts(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

#[test]
fn a_lab_solves_behind_token_and_mutual_tls_and_tells_no_secret() {
    let keys = Keys::new();
    let server = keys.server();
    let (coordinator, url) =
        serve(&[&["connect4:4x4", "--await-workers", "2"], &texts(&server)[..]].concat());
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    keys.are_not_shown_of(&coordinator);

    let (ann, bob) = (keys.client("ann"), keys.client("bob"));
    let first = worker_with(&url, "ann", &texts(&ann));
    first.wait_for(LIMIT, |line| line.contains("connected: solving").then_some(()));
    keys.are_not_shown_of(&first);
    let ask = ["status", &url, "--output", "json"];
    let status = run(&mut jlpns([&ask, &texts(&ann)[..]].concat()), LIMIT);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert_eq!(status.json()["workers"][0]["name"], "ann");
    keys.hides_its_secrets(&status);
    // By the environment as by flags.
    let mut health = jlpns(["health", &url]);
    let names = ["JLPNS_TOKEN_FILE", "JLPNS_CA", "JLPNS_CERT", "JLPNS_KEY"];
    for (name, file) in names.into_iter().zip(["token", "ca.pem", "ann.pem", "ann.key"]) {
        health.env(name, keys.path(file));
    }
    assert_eq!(run(&mut health, LIMIT).code, Some(0));

    let second = worker_with(&url, "bob", &texts(&bob));
    for process in [coordinator, first, second] {
        let ended = process.end(LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        keys.hides_its_secrets(&ended);
    }
}

#[test]
fn who_does_not_belong_is_told_why_and_ends() {
    let (keys, others) = (Keys::new(), Keys::new());
    let server = keys.server();
    let (_coordinator, url) = serve(&[&["connect4:7x6"], &texts(&server)[..]].concat());
    let worker = |flags: &[(&str, &Keys, &str)], words: &str| {
        let flags: Vec<String> = flags
            .iter()
            .flat_map(|(flag, keys, name)| [(*flag).to_owned(), keys.path(name)])
            .collect();
        let ended = worker_with(&url, "unknown", &texts(&flags)).end(LIMIT);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
        keys.hides_its_secrets(&ended);
        let status = run(&mut jlpns([&["status", &url], &texts(&flags)[..]].concat()), LIMIT);
        assert_eq!(status.code, Some(1), "{status:?}");
        assert!(status.stderr.contains(words), "{status:?}");
    };
    let (ca, cert, key) =
        (("--ca", &keys, "ca.pem"), ("--cert", &keys, "ann.pem"), ("--key", &keys, "ann.key"));
    let wrong = ("--token-file", &others, "token");
    worker(&[ca, cert, key, wrong], "the token is not the one of this coordinator");
    worker(&[ca, cert, key], "this coordinator wants to see its token");
    let right = ("--token-file", &keys, "token");
    worker(&[ca, right], "give one with --cert and --key");
    worker(&[("--ca", &others, "ca.pem"), cert, key, right], "give the coordinator's CA with --ca");
    let (cert, key) = (("--cert", &others, "ann.pem"), ("--key", &others, "ann.key"));
    worker(&[ca, cert, key, right], "does not believe this client's certificate");
}

#[test]
fn a_token_alone_guards_a_plain_connection() {
    let keys = Keys::new();
    let folder = keys.folder.path();
    let loose = write(folder, "loose", "\n  a-token-of-many-characters\n");
    let same = write(folder, "same", "a-token-of-many-characters");
    let (coordinator, url) = serve(&["connect4:4x4", "--token-file", &loose]);
    assert_eq!(run(&mut jlpns(["health", &url]), LIMIT).code, Some(0));
    let refused = run(&mut jlpns(["status", &url]), LIMIT);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--token-file"), "{refused:?}");
    let worker = worker_with(&url, "one", &["--token-file", &same]);
    assert_eq!(worker.end(LIMIT).code, Some(0));
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.stderr.contains("many-characters"), "{ended:?}");
}

#[test]
fn everybody_is_let_in_from_other_machines_only_if_that_is_said() {
    let open = ["serve", "connect4:7x6", "--listen", "0.0.0.0:0"];
    let refused = run(&mut jlpns(open), LIMIT);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for word in ["whoever reaches 0.0.0.0:0", "--token-file", "--client-ca", "--insecure"] {
        assert!(refused.stderr.contains(word), "{refused:?}");
    }
    // A certificate of the server alone keeps nobody out.
    let keys = Keys::new();
    let tls = keys.flags(&[("--tls-cert", "server.pem"), ("--tls-key", "server.key")]);
    let refused = run(&mut jlpns([&open[..], &texts(&tls)].concat()), LIMIT);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for more in
        [vec!["--insecure".to_owned()], keys.flags(&[("--token-file", "token")]), keys.server()]
    {
        let coordinator = Running::start(&mut jlpns([&open[..], &texts(&more)].concat()));
        coordinator.wait_for(LIMIT, |line| line.contains("listening on ").then_some(()));
    }
}

#[test]
fn a_file_that_everybody_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let keys = Keys::new();
    let token = keys.path("token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("its mode is set");
    let args = ["serve", "connect4:7x6", "--listen", "127.0.0.1:0", "--token-file", &token];
    let coordinator = Running::start(&mut jlpns(args));
    coordinator.wait_for(LIMIT, |line| line.contains(&format!("chmod 600 {token}")).then_some(()));
}

#[test]
fn where_few_files_may_be_open_idle_connections_make_way_for_a_worker() {
    let keys = Keys::new();
    let token = keys.path("token");
    let serve = jlpns(["serve", "connect4:4x4", "--listen", "127.0.0.1:0", "--token-file", &token]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 200; exec \"$0\" \"$@\""]);
    limited.arg(serve.get_program()).args(serve.get_args());
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let coordinator = Running::start(&mut limited);
    coordinator.wait_for(LIMIT, |line| line.contains("200 files may be open").then_some(()));
    let address = coordinator.wait_for(LIMIT, |line| {
        let (_, address) = line.split_once("listening on http://")?;
        Some(address.trim().to_owned())
    });
    // More than there are files for, and all of them stay open at this end.
    let idle: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(&address).expect("a connection")).collect();
    let worker = worker_with(&format!("http://{address}"), "one", &["--token-file", &token]);
    assert_eq!(worker.end(LIMIT).code, Some(0));
    drop(idle);
    let ended = coordinator.end(LIMIT);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_worker_too_many_is_told_so_and_waits() {
    let (_coordinator, url) = serve(&["connect4:8x7", "--max-workers", "1"]);
    let first = worker_with(&url, "first", &[]);
    first.wait_for(LIMIT, |line| line.contains("connected: solving").then_some(()));
    let second = worker_with(&url, "second", &[]);
    second.wait_for(LIMIT, |line| {
        (line.contains("at most 1 workers (--max-workers)") && line.contains("trying again"))
            .then_some(())
    });
    drop(first);
    second.wait_for(LIMIT, |line| line.contains("connected: solving").then_some(()));
}
