//! Who is logged in, at the console or over the network: by the files of systemd's logind, and by utmp.

use std::str;

/// Somebody who is logged in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoggedIn {
    /// The user's name.
    pub user: String,
    /// The terminal or the seat.
    pub place: String,
}

/// What a session is, whether or not somebody sits at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Who is logged in.
    pub who: LoggedIn,
    /// The process that it began with; 0 if that is not told.
    pub leader: u32,
}

/// Services whose sessions are of programs, not of people.
const OF_PROGRAMS: [&str; 4] = ["cron", "crond", "atd", "systemd-user"];

/// Reads a file of `/run/systemd/sessions`: a person's session, unless it is about to end.
pub fn of_logind(text: &str) -> Option<Session> {
    let field = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines.filter(|(name, _)| *name == key).map(|(_, value)| value.trim()).next()
    };
    if !field("CLASS").is_none_or(|class| class == "user" || class == "user-early")
        || !matches!(field("STATE"), Some("active" | "online"))
        || field("SERVICE").is_some_and(|service| OF_PROGRAMS.contains(&service))
    {
        return None;
    }
    // A command that is run over ssh, such as `jlpns launch status`, has no terminal: nobody sits there.
    let is_on_screen = field("TYPE").is_some_and(|kind| !["tty", "unspecified"].contains(&kind));
    if field("TTY").is_none() && field("DISPLAY").is_none() && !is_on_screen {
        return None;
    }
    let user = field("USER").or(field("UID"))?.to_owned();
    let place = field("TTY").or(field("DISPLAY")).or(field("SEAT")).or(field("REMOTE_HOST"));
    let place = place.unwrap_or("this machine").to_owned();
    let leader = field("LEADER").and_then(|leader| leader.parse().ok()).unwrap_or(0);
    Some(Session { who: LoggedIn { user, place }, leader })
}

/// The bytes of one entry of utmp: on most 64-bit systems its times are wide.
const ENTRY: usize = if cfg!(target_arch = "x86_64") { 384 } else { 400 };
/// The type of an entry that stands for somebody who is logged in.
const USER_PROCESS: i16 = 7;

/// Reads utmp. The layout is that of the GNU C library.
pub fn of_utmp(bytes: &[u8]) -> Vec<Session> {
    let word = |entry: &[u8], from: usize, to: usize| {
        let text = entry[from..to].split(|&byte| byte == 0).next().unwrap_or_default();
        str::from_utf8(text).unwrap_or("?").to_owned()
    };
    let entries = bytes.chunks_exact(ENTRY);
    let people = entries.filter(|entry| i16::from_ne_bytes([entry[0], entry[1]]) == USER_PROCESS);
    people
        .map(|entry| Session {
            leader: u32::from_ne_bytes([entry[4], entry[5], entry[6], entry[7]]),
            who: LoggedIn { place: word(entry, 8, 40), user: word(entry, 44, 76) },
        })
        .filter(|session| !session.who.user.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSH: &str = "# This is private data. Do not parse.\nUID=1000\nUSER=anna\nACTIVE=1\n\
        STATE=active\nREMOTE=1\nTYPE=tty\nCLASS=user\nTTY=pts/3\nSERVICE=sshd\nLEADER=4711\n";

    #[test]
    fn people_at_terminals_and_over_ssh_are_logged_in() {
        let who = LoggedIn { user: "anna".to_owned(), place: "pts/3".to_owned() };
        assert_eq!(of_logind(SSH), Some(Session { who, leader: 4711 }));
        let desktop = "UID=1000\nSTATE=online\nTYPE=wayland\nCLASS=user\nSEAT=seat0\n";
        let who = LoggedIn { user: "1000".to_owned(), place: "seat0".to_owned() };
        assert_eq!(of_logind(desktop), Some(Session { who, leader: 0 }));
    }

    #[test]
    fn greeters_programs_and_sessions_that_end_are_nobody() {
        for (from, to) in [
            ("CLASS=user", "CLASS=greeter"),
            ("CLASS=user", "CLASS=manager"),
            ("CLASS=user", "CLASS=background"),
            ("STATE=active", "STATE=closing"),
            ("STATE=active", "STATE=opening"),
            ("SERVICE=sshd", "SERVICE=cron"),
            ("TTY=pts/3\n", ""),
        ] {
            assert_eq!(of_logind(&SSH.replace(from, to)), None, "{to}");
        }
        for text in ["", "=", "nothing", "STATE=active\n"] {
            assert_eq!(of_logind(text), None, "{text:?}");
        }
    }

    fn entry(kind: i16, pid: u32, line: &str, user: &str) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        entry[..2].copy_from_slice(&kind.to_ne_bytes());
        entry[4..8].copy_from_slice(&pid.to_ne_bytes());
        entry[8..8 + line.len()].copy_from_slice(line.as_bytes());
        entry[44..44 + user.len()].copy_from_slice(user.as_bytes());
        entry
    }

    #[test]
    fn utmp_tells_people_from_the_rest() {
        let mut bytes = entry(2, 0, "~", "reboot");
        bytes.extend(entry(7, 812, "tty1", "anna"));
        bytes.extend(entry(8, 813, "tty2", "gone"));
        // A full field has no zero at its end.
        bytes.extend(entry(7, 814, &"l".repeat(32), &"u".repeat(32)));
        bytes.extend([7; 100]);
        let sessions = of_utmp(&bytes);
        assert_eq!(sessions.len(), 2);
        assert_eq!(sessions[0].leader, 812);
        assert_eq!(sessions[0].who.user, "anna");
        assert_eq!(sessions[0].who.place, "tty1");
        assert_eq!(sessions[1].who.user.len(), 32);
        assert_eq!(of_utmp(b"short"), []);
    }
}
