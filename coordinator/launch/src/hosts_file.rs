//! The file that names the hosts: one a line, or TOML.

use std::collections::BTreeMap;

use jlpns_shell::nearest::nearest;
use toml::{Table, Value};

use crate::host::{self, Host, NICEST, NameError, Scheduling, Settings, Systemd, UserName};

/// The keys of a host.
const KEYS: [&str; 10] =
    ["name", "user", "port", "path", "slots", "memory", "nice", "scheduling", "systemd", "flags"];
/// What is in the file beside comments.
const TABLES: [&str; 2] = ["host", "defaults"];

/// Why a list of hosts is refused; what is said of the list follows its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsError {
    /// There is no host in it.
    #[error("names no host; write one a line, or as [[host]] with a name")]
    Empty,
    /// A line that is no host.
    #[error("has {error} in line {line}")]
    Name {
        /// What it is.
        error: NameError,
        /// Where.
        line: usize,
    },
    /// A line with more than a name.
    #[error(
        "has more than a name in line {line}; for more than names write TOML: [[host]], with name = \"{name}\" below it"
    )]
    More {
        /// The first word.
        name: String,
        /// Where.
        line: usize,
    },
    /// It begins like TOML and is none.
    #[error("is no TOML: {message} in line {line}")]
    Malformed {
        /// What is wrong.
        message: String,
        /// Where.
        line: usize,
    },
    /// A key or a table that there is not.
    #[error("has an unknown key '{key}' {of}; {hint}")]
    Unknown {
        /// The key.
        key: String,
        /// Of what.
        of: String,
        /// What would be right.
        hint: String,
    },
    /// A value that its key does not take.
    #[error("has an invalid value for '{key}' {of}: {reason}")]
    Value {
        /// The key.
        key: String,
        /// Of what.
        of: String,
        /// What would be right.
        reason: String,
    },
    /// The same host again.
    #[error("names {host} twice, {places}; leave one of them out, or give them different paths")]
    Twice {
        /// The host.
        host: String,
        /// Where.
        places: String,
    },
}

/// The hosts of a list, with what it says of all of them added to each, and `flags` where it says nothing.
pub fn parse(text: &str, flags: &Settings) -> Result<Vec<Host>, HostsError> {
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
    // Neither is a name of a host.
    let is_toml = first.starts_with('[')
        || first.split_once('=').is_some_and(|(key, _)| is_key(key.trim_end()));
    let (hosts, places) = if is_toml { from_toml(text)? } else { from_lines(text)? };
    let hosts = hosts.into_iter().map(|host| {
        let settings = host.settings.or(flags);
        Host { settings, ..host }
    });
    let hosts: Vec<Host> = hosts.collect();
    if hosts.is_empty() {
        return Err(HostsError::Empty);
    }
    let mut seen = BTreeMap::new();
    for (host, place) in hosts.iter().zip(&places) {
        if let Some(before) = seen.insert(host.place(), place) {
            let what = if is_toml { "as its hosts" } else { "in lines" };
            let places = format!("{what} {before} and {place}");
            return Err(HostsError::Twice { host: host.shown(), places });
        }
    }
    Ok(hosts)
}

/// Hosts, and the place of each: its line, or its number.
type Listed = (Vec<Host>, Vec<usize>);

fn from_lines(text: &str) -> Result<Listed, HostsError> {
    let (mut hosts, mut places) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let host =
            Host::named(name).map_err(|error| HostsError::Name { error, line: line_number })?;
        if words.next().is_some() {
            return Err(HostsError::More { name: name.to_owned(), line: line_number });
        }
        hosts.push(host);
        places.push(line_number);
    }
    Ok((hosts, places))
}

fn from_toml(text: &str) -> Result<Listed, HostsError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let begin = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..begin].iter().filter(|&&byte| byte == b'\n').count() + 1;
        HostsError::Malformed { message: error.message().replace('\n', ", "), line }
    })?;
    if let Some(key) = table.keys().find(|key| !TABLES.contains(&key.as_str())) {
        let hint = match nearest(key, TABLES.into_iter()) {
            Some("host") => "[[host]] is one".to_owned(),
            Some(near) => format!("[{near}] is one"),
            None if KEYS.contains(&key.as_str()) => {
                "it belongs below a [[host]], or below [defaults]".to_owned()
            }
            None => "there are [[host]] and [defaults]".to_owned(),
        };
        return Err(HostsError::Unknown {
            key: key.clone(),
            of: "outside its tables".to_owned(),
            hint,
        });
    }
    let defaults = match table.get("defaults") {
        None => Settings::default(),
        Some(Value::Table(defaults)) => settings(defaults, "in [defaults]", &KEYS[1..])?,
        Some(_) => return Err(not_a("defaults", "write [defaults], and keys below it")),
    };
    let Some(hosts) = table.get("host") else { return Err(HostsError::Empty) };
    let wrong = || not_a("host", "write [[host]] for each, and keys below it");
    let mut listed = (Vec::new(), Vec::new());
    for (index, host) in hosts.as_array().ok_or_else(wrong)?.iter().enumerate() {
        let host = host.as_table().ok_or_else(wrong)?;
        let number = index + 1;
        let of = match host.get("name").and_then(Value::as_str) {
            Some(name) => format!("of the host '{}'", name.chars().take(60).collect::<String>()),
            None => format!("of the host {number}"),
        };
        let invalid =
            |reason: String| HostsError::Value { key: "name".to_owned(), of: of.clone(), reason };
        let name = host.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| invalid("each [[host]] needs a name".to_owned()))?;
        let named = Host::named(name).map_err(|error| invalid(format!("it is {error}")))?;
        let mut own = settings(host, &of, &KEYS)?;
        if named.settings.user.is_some() {
            if own.user.is_some() {
                return Err(invalid(
                    "the user is named here and as user; leave one out".to_owned(),
                ));
            }
            own.user = named.settings.user;
        }
        listed.0.push(Host { name: named.name, settings: own.or(&defaults) });
        listed.1.push(number);
    }
    Ok(listed)
}

fn not_a(key: &str, reason: &str) -> HostsError {
    HostsError::Value {
        key: key.to_owned(),
        of: "outside its tables".to_owned(),
        reason: reason.to_owned(),
    }
}

fn settings(table: &Table, of: &str, known: &[&str]) -> Result<Settings, HostsError> {
    let mut settings = Settings::default();
    for (key, value) in table {
        if !known.contains(&key.as_str()) {
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("'{near}' is one"),
                None => format!("the keys there are {}", known.join(", ")),
            };
            return Err(HostsError::Unknown { key: key.clone(), of: of.to_owned(), hint });
        }
        set(&mut settings, key, value).map_err(|reason| HostsError::Value {
            key: key.clone(),
            of: of.to_owned(),
            reason,
        })?;
    }
    Ok(settings)
}

fn set(settings: &mut Settings, key: &str, value: &Value) -> Result<(), String> {
    match key {
        "user" => {
            let user = UserName::new(text(value)?).map_err(|error| format!("it is {error}"))?;
            settings.user = Some(user);
        }
        "port" => settings.port = Some(number(value, 1, u16::MAX)?),
        "path" => settings.path = Some(host::path(text(value)?)?),
        // The worker knows which of these it takes, and is asked before any host is.
        "slots" => settings.slots = Some(scalar(value)?),
        "memory" => settings.memory = Some(scalar(value)?),
        "nice" => settings.nice = Some(number(value, 0, NICEST)?),
        "scheduling" => settings.scheduling = Some(one_of(text(value)?, &Scheduling::ALL)?),
        "systemd" => settings.systemd = Some(one_of(text(value)?, &Systemd::ALL)?),
        "flags" => {
            let wrong = || r#"write a list of words, such as ["--name", "left"]"#.to_owned();
            let words = value.as_array().ok_or_else(wrong)?.iter();
            let words = words.map(|word| word.as_str().map(str::to_owned).ok_or_else(wrong));
            settings.flags = Some(words.collect::<Result<_, _>>()?);
        }
        // The name is read before.
        _ => {}
    }
    Ok(())
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "write a text in quotation marks".to_owned())
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.chars().any(char::is_control) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err("write a number, or a text in quotation marks".to_owned()),
    }
}

fn number<T>(value: &Value, least: T, most: T) -> Result<T, String>
where
    T: TryFrom<i64> + PartialOrd + std::fmt::Display,
{
    let number = value.as_integer().and_then(|number| T::try_from(number).ok());
    let number = number.filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
}

/// One of these by its name.
pub fn one_of<T: Copy>(text: &str, known: &[(&'static str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == text);
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    found.map(|(_, value)| *value).ok_or_else(|| format!("write one of {}", names.join(", ")))
}

/// Which of the hosts have one of these names; all if there are none. A name that none has is given back.
pub fn only(hosts: Vec<Host>, names: &[String]) -> Result<Vec<Host>, String> {
    let is_called = |host: &Host, name: &str| {
        host.name.as_str().eq_ignore_ascii_case(name)
            || host.shown() == name
            || host.login() == name
    };
    for name in names {
        if !hosts.iter().any(|host| is_called(host, name)) {
            let known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            return Err(match nearest(name, known.iter().copied()) {
                Some(near) => format!("there is no host '{name}' among them; '{near}' is one"),
                None => format!("there is no host '{name}' among them"),
            });
        }
    }
    let is_wanted =
        |host: &Host| names.is_empty() || names.iter().any(|name| is_called(host, name));
    Ok(hosts.into_iter().filter(is_wanted).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<Vec<Host>, String> {
        parse(text, &Settings::default()).map_err(|error| error.to_string())
    }

    fn names(text: &str) -> Vec<String> {
        parsed(text).expect(text).iter().map(Host::shown).collect()
    }

    #[test]
    fn names_are_one_a_line() {
        let text = "# the lab\n node1 \n\nann@node2 # by the window\r\n10.0.0.3\nfd00::4\n";
        assert_eq!(names(text), ["node1", "ann@node2", "10.0.0.3", "fd00::4"]);
    }

    #[test]
    fn toml_says_more() {
        let text = r#"
            [defaults]
            user = "ann"
            nice = 10
            [[host]]
            name = "node1"
            slots = 8
            memory = "4GiB"
            [[host]]
            name = "bob@node2"
            port = 2222
            path = "/scratch/bob"
            nice = 0
            scheduling = "normal"
            systemd = "never"
            flags = ["--name", "left"]
        "#;
        let hosts = parsed(text).expect("hosts");
        assert_eq!(hosts[0].ssh_words(), ["-l", "ann", "--", "node1"]);
        assert_eq!(hosts[1].ssh_words(), ["-p", "2222", "-l", "bob", "--", "node2"]);
        let [one, two] = [&hosts[0].settings, &hosts[1].settings];
        assert_eq!((one.slots.as_deref(), one.memory.as_deref()), (Some("8"), Some("4GiB")));
        assert_eq!((one.nice(), two.nice()), (10, 0));
        assert_eq!((two.scheduling(), two.systemd()), (Scheduling::Normal, Systemd::Never));
        assert_eq!(two.flags.as_deref(), Some(&["--name".to_owned(), "left".to_owned()][..]));
        assert_eq!(two.path(), "/scratch/bob");
        // The tables may be written in one line, too.
        assert_eq!(names("host = [{ name = 'a' }, { name = 'b' }]"), ["a", "b"]);
    }

    #[test]
    fn flags_count_where_the_file_says_nothing() {
        let flags = Settings { nice: Some(3), path: Some("/x".to_owned()), ..Settings::default() };
        let hosts = parse("[defaults]\nnice = 4\n[[host]]\nname = 'a'", &flags).expect("hosts");
        assert_eq!((hosts[0].settings.nice(), hosts[0].settings.path()), (4, "/x"));
        assert_eq!(parse("a", &flags).expect("hosts")[0].settings.nice(), 3);
    }

    #[test]
    fn what_is_wrong_is_a_sentence() {
        let cases = [
            ("", "names no host"),
            ("# nobody\n\n", "names no host"),
            ("[defaults]\nnice = 1\n", "names no host"),
            ("a\nb\nA\n", "names A twice, in lines 1 and 3"),
            ("ann@a\n# again\nann@a", "names ann@a twice, in lines 1 and 3"),
            ("[[host]]\nname='a'\n[[host]]\nname='a'", "names a twice, as its hosts 1 and 2"),
            ("a\n-oProxyCommand=id\n", "begins with '-' as no name does in line 2"),
            ("-oProxyCommand=id\n", "begins with '-' as no name does in line 1"),
            ("node1;x=y\n", "holds ';'"),
            ("a\nb;c\n", "holds ';'"),
            ("a slots 4\n", "for more than names write TOML"),
            (
                "[[host]]\nname = 'a'\nslot = 4",
                "unknown key 'slot' of the host 'a'; 'slots' is one",
            ),
            ("[default]\nnice = 1", "unknown key 'default' outside its tables; [defaults] is one"),
            ("[[hosts]]\nname = 'a'", "[[host]] is one"),
            ("slots = 4\n[[host]]\nname = 'a'", "it belongs below a [[host]]"),
            ("[defaults]\nname = 'a'", "unknown key 'name' in [defaults]"),
            ("[[host]]\nslots = 4", "each [[host]] needs a name"),
            ("[[host]]\nname = '-l'", "begins with '-'"),
            ("[[host]]\nname = 'a'\nuser = 'a b'", "holds ' '"),
            ("[[host]]\nname = 'b@a'\nuser = 'c'", "leave one out"),
            ("[[host]]\nname = 'a'\nnice = 20", "write a whole number from 0 to 19"),
            ("[[host]]\nname = 'a'\nport = 0", "write a whole number from 1 to 65535"),
            ("[[host]]\nname = 'a'\nscheduling = 'lazy'", "write one of idle, normal"),
            ("[[host]]\nname = 'a'\nslots = 1.5", "write a number, or a text"),
            ("[[host]]\nname = 'a'\nflags = '--x'", "write a list of words"),
            ("[[host]]\nname = 'a'\npath = ''", "write a folder"),
            ("[host]\nname = 'a'", "write [[host]] for each"),
            ("[[host]\nname = 'a'", "is no TOML"),
            ("[[host]]\nname = 'a'\nname = 'b'", "in line 3"),
        ];
        for (text, words) in cases {
            let sentence = parsed(text).expect_err(text);
            assert!(sentence.contains(words), "{text:?}: {sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
        }
    }

    #[test]
    fn the_same_host_may_have_two_folders_or_two_ports() {
        let text = "[[host]]\nname='a'\n[[host]]\nname='a'\npath='/b'\n[[host]]\nname='a'\nport=23";
        assert_eq!(parsed(text).expect("hosts").len(), 3);
    }

    #[test]
    fn some_of_them_can_be_named() {
        let hosts = || parsed("node1\nann@node2\nnode3").expect("hosts");
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            only(hosts(), &names).map(|hosts| hosts.len())
        };
        assert_eq!(named(&[]), Ok(3));
        assert_eq!(named(&["node2", "NODE3"]), Ok(2));
        assert_eq!(named(&["ann@node2"]), Ok(1));
        assert!(named(&["node33"]).is_err_and(|sentence| sentence.contains("'node3' is one")));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,80}") {
            let _ = parse(&text, &Settings::default());
        }

        #[test]
        fn no_toml_makes_it_panic(key in "[a-z]{1,8}", value in ".{0,20}") {
            let _ = parse(&format!("[[host]]\nname = 'a'\n{key} = {value}"), &Settings::default());
        }

        #[test]
        fn no_host_is_lost(count in 1_usize..40) {
            let text: String = (0..count).map(|index| format!("node{index}\n")).collect();
            prop_assert_eq!(names(&text).len(), count);
        }
    }
}
