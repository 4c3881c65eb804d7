//! Where the system tells who is logged in and what its programs take.

use std::path::{Path, PathBuf};
use std::{fs, process};

use super::load::{LoadOfOthers, of_machine, of_process};
use super::sessions::{LoggedIn, Session, of_logind, of_utmp};

/// What was seen of a machine at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Who is logged in, but for the session that the worker itself was started in.
    pub logged_in: Vec<LoggedIn>,
    /// The share of the machine that other programs took in the last second, from 0 to 1; nothing before
    /// the second look, or where the system does not tell.
    pub load_of_others: Option<f64>,
}

/// What looks at a machine.
#[derive(Debug)]
pub struct Lookout {
    root: PathBuf,
    load: LoadOfOthers,
    /// The worker's own process and those that it descends from.
    line_of_descent: Vec<u32>,
}

impl Lookout {
    /// One for the machine that this process runs on.
    pub fn new() -> Lookout {
        Lookout::below(Path::new("/"), process::id())
    }

    /// One that reads the files of the system in another folder than `/`, for a process.
    fn below(root: &Path, id: u32) -> Lookout {
        let parent = |id: u32| {
            let text = fs::read_to_string(root.join(format!("proc/{id}/stat"))).ok()?;
            text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
        };
        // Everything descends from process 1, which is nobody's login.
        let descent = std::iter::successors(Some(id), |&id| parent(id).filter(|&id| id > 1));
        let line_of_descent = descent.take(1000).collect();
        Lookout { root: root.to_owned(), load: LoadOfOthers::default(), line_of_descent }
    }

    /// Whether the system tells who is logged in.
    pub fn tells_who_is_logged_in(&self) -> bool {
        self.root.join("run/systemd/sessions").is_dir() || self.root.join("run/utmp").is_file()
    }

    /// Looks at the machine.
    pub fn look(&mut self) -> Seen {
        Seen { logged_in: self.logged_in(), load_of_others: self.load_of_others() }
    }

    fn logged_in(&self) -> Vec<LoggedIn> {
        let own = self.own_session();
        let mut sessions: Vec<Session> = Vec::new();
        for file in fs::read_dir(self.root.join("run/systemd/sessions")).into_iter().flatten() {
            let Ok(file) = file else { continue };
            // Beside them are pipes, which nobody ever writes to.
            if !file.file_type().is_ok_and(|kind| kind.is_file()) {
                continue;
            }
            if own.as_deref().is_some_and(|own| file.file_name() == own) {
                continue;
            }
            let text = fs::read_to_string(file.path());
            sessions.extend(text.ok().and_then(|text| of_logind(&text)));
        }
        let utmp = fs::read(self.root.join("run/utmp")).unwrap_or_default();
        // An entry may outlive its session.
        let lives = |session: &Session| {
            session.leader == 0 || self.root.join(format!("proc/{}", session.leader)).exists()
        };
        sessions.extend(of_utmp(&utmp).into_iter().filter(lives));
        sessions.retain(|session| !self.line_of_descent.contains(&session.leader));
        let mut people: Vec<LoggedIn> = sessions.into_iter().map(|session| session.who).collect();
        people.sort();
        people.dedup();
        people
    }

    /// The session that the worker was started in, by its control group.
    fn own_session(&self) -> Option<String> {
        let groups = fs::read_to_string(self.root.join("proc/self/cgroup")).ok()?;
        let scopes = groups.split(['/', '\n']).filter_map(|part| part.strip_prefix("session-"));
        scopes.filter_map(|scope| scope.strip_suffix(".scope")).next().map(str::to_owned)
    }

    fn load_of_others(&mut self) -> Option<f64> {
        let machine = of_machine(&fs::read_to_string(self.root.join("proc/stat")).ok()?)?;
        let own = of_process(&fs::read_to_string(self.root.join("proc/self/stat")).ok()?)?;
        self.load.sample(machine, own)
    }
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files of a system.
    struct System(tempfile::TempDir);

    impl System {
        fn new() -> System {
            System(tempfile::tempdir().expect("a temporary folder"))
        }

        fn write(&self, file: &str, text: impl AsRef<[u8]>) -> &System {
            let path = self.0.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
            self
        }

        fn session(&self, name: &str, user: &str, leader: u32) -> &System {
            let text =
                format!("USER={user}\nSTATE=active\nCLASS=user\nTTY=tty{name}\nLEADER={leader}\n");
            self.write(&format!("run/systemd/sessions/{name}"), text)
        }

        fn logged_in(&self, id: u32) -> Vec<String> {
            let seen = Lookout::below(self.0.path(), id).look();
            seen.logged_in.into_iter().map(|who| who.user).collect()
        }
    }

    #[test]
    fn the_session_that_the_worker_was_started_in_is_nobody() {
        let system = System::new();
        system.session("1", "anna", 100).session("2", "bert", 200).session("c3", "carl", 300);
        // Started by hand: it descends from the session's leader.
        system.write("proc/100/stat", "100 (sshd) S 1 100");
        system.write("proc/150/stat", "150 (a sh) S 100 100");
        system.write("proc/160/stat", "160 (jlpns-worker) R 150 100");
        // As logind has one beside each session. Whoever opened it would wait.
        let pipe = system.0.path().join("run/systemd/sessions/2.ref");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        assert_eq!(system.logged_in(160), ["bert", "carl"]);
        // Left behind by a session: its control group tells.
        system.write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-c3.scope\n");
        assert_eq!(system.logged_in(999), ["anna", "bert"]);
    }

    #[test]
    fn an_entry_of_utmp_whose_process_is_gone_is_nobody() {
        let system = System::new();
        assert!(!Lookout::below(system.0.path(), 1).tells_who_is_logged_in());
        let entry = |pid: u32, user: &str| {
            let mut entry = vec![0; if cfg!(target_arch = "x86_64") { 384 } else { 400 }];
            entry[0] = 7;
            entry[4..8].copy_from_slice(&pid.to_ne_bytes());
            entry[44..44 + user.len()].copy_from_slice(user.as_bytes());
            entry
        };
        system.write("run/utmp", [entry(500, "dora"), entry(501, "emil")].concat());
        system.write("proc/501/stat", "501 (bash) S 1 501");
        assert_eq!(system.logged_in(999), ["emil"]);
        assert!(Lookout::below(system.0.path(), 1).tells_who_is_logged_in());
    }

    #[test]
    fn the_load_comes_with_the_second_look() {
        let system = System::new();
        system.write("proc/self/stat", "9 (w) R 1 9 9 0 -1 0 0 0 0 0 100 0 0 0 20 0 3 0 5");
        system.write("proc/stat", "cpu  500 0 0 500 0 0 0 0 0 0\n");
        let mut lookout = Lookout::below(system.0.path(), 9);
        assert_eq!(lookout.look().load_of_others, None);
        system.write("proc/self/stat", "9 (w) R 1 9 9 0 -1 0 0 0 0 0 150 0 0 0 20 0 3 0 5");
        system.write("proc/stat", "cpu  580 0 0 520 0 0 0 0 0 0\n");
        assert_eq!(lookout.look().load_of_others, Some(0.3));
        // A system that does not tell.
        assert_eq!(Lookout::below(Path::new("/no/such/folder"), 9).look(), Seen::default());
    }
}
