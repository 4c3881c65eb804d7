//! What could keep a worker from running on a host, and what would help.

use serde::Serialize;

use crate::answer::Answer;
use crate::binary::Build;
use crate::plan::{fits, has_room};
use crate::survey::{Manager, Survey};

/// How far a clock may be off before it is spoken of, in seconds.
const CLOCK_OFF: i64 = 60;
/// The memory with which a slot can do something, in bytes.
const LEAST_MEMORY: u64 = 256 << 20;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether a worker cannot run because of it.
    pub is_problem: bool,
    /// What was found.
    pub message: String,
    /// What would help, or what follows.
    pub remedy: String,
}

/// What a host is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The worker that would be launched, if there is one.
    pub build: Option<&'a Build>,
    /// Where the coordinator is, if that is said.
    pub coordinator: Option<&'a str>,
    /// What the clock was here when the host told its own, in seconds since 1970.
    pub clock: i64,
}

/// What was found on a host, problems first.
pub fn diagnose(survey: &Survey, answer: &Answer, with: &Compared<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |is_problem, message: String, remedy: &str| {
        found.push(Finding { is_problem, message, remedy: remedy.to_owned() });
    };
    let unfit = with.build.and_then(|build| fits(survey, build).err());
    let is_there = with.build.is_some_and(|build| survey.file.as_ref() == Some(&build.sha256));
    let no_room = with.build.filter(|_| !is_there).and_then(|build| has_room(survey, build).err());
    for trouble in unfit.into_iter().chain(no_room) {
        add(true, trouble.message, &trouble.remedy);
    }
    if with.build.is_none() && survey.system != "Linux" {
        let message = format!("it runs {}, and workers run on Linux", survey.system);
        add(true, message, "take it out of the hosts");
    }
    if let Some(reason) = answer.fact("unwritable") {
        let message = format!("the folder {} cannot be written to: {reason}", survey.folder);
        add(true, message, "give it another one with path or --path");
    }
    if answer.fact("executes") == Some("no") {
        let message = format!(
            "no program may be run from {}, as its disk is mounted with noexec",
            survey.folder
        );
        add(true, message, "give it another folder with path or --path");
    }
    match (with.coordinator, answer.fact("reaches")) {
        (Some(coordinator), None) => add(
            false,
            format!(
                "whether it reaches {coordinator} cannot be tried, as it has neither bash nor nc"
            ),
            "its worker will say it in its log",
        ),
        (Some(coordinator), Some(reason)) if reason != "yes" => add(
            true,
            format!("it does not reach the coordinator at {coordinator}: {reason}"),
            "see that the coordinator listens on an address of its network, and that no firewall is between them",
        ),
        _ => {}
    }
    if let Some(off) = survey.clock.map(|clock| clock.saturating_sub(with.clock))
        && off.saturating_abs() > CLOCK_OFF
    {
        let way = if off > 0 { "ahead" } else { "behind" };
        add(
            true,
            format!("its clock is {} {way} of this machine's", span(off.saturating_abs())),
            "set it, as with `timedatectl set-ntp true`: certificates would seem expired or not yet valid",
        );
    }
    if !survey.strays.is_empty() {
        let pids = pids(&survey.strays);
        add(
            true,
            format!("a worker runs there that has lost its pid file ({pids})"),
            "end it with `jlpns launch stop`",
        );
    }
    if let Some(pid) = survey.pid {
        let running = survey.launched.build.as_deref();
        match with.build {
            Some(build) if running != Some(&*build.sha256) => add(
                false,
                format!("a worker of another build runs there (pid {pid})"),
                "`jlpns launch start` replaces it after it has drained",
            ),
            _ => add(false, format!("a worker runs there (pid {pid})"), "it is left alone"),
        }
    }
    if let Some(others) = answer.fact("others") {
        let message = format!(
            "other workers run there, which were not launched into this folder (pid {others})"
        );
        add(false, message, "they share its processors; end them there if nobody needs them");
    }
    if let (Some(cores), Some(memory)) = (survey.cores, survey.memory)
        && memory < LEAST_MEMORY.saturating_mul(cores.into())
    {
        let message = format!("{} MiB of memory are free for {cores} slots", memory >> 20);
        add(false, message, "give it fewer with slots, or less with memory");
    }
    if answer.fact("kills") == Some("yes") && !survey.lingers {
        add(
            true,
            "its systemd ends all processes of a user who logs out".to_owned(),
            "run `loginctl enable-linger` there",
        );
    } else if survey.manager != Manager::Absent && !survey.lingers {
        add(
            false,
            "its systemd does not keep what a user runs, so the worker is started detached"
                .to_owned(),
            "`loginctl enable-linger` there would have it in a unit",
        );
    } else if survey.manager == Manager::Unreachable {
        add(
            false,
            "the user's systemd does not answer there, so the worker is started detached"
                .to_owned(),
            "see `systemctl --user status` there",
        );
    }
    found.sort_by_key(|finding| !finding.is_problem);
    found
}

fn pids(pids: &[u32]) -> String {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let word = if pids.len() == 1 { "pid" } else { "pids" };
    format!("{word} {}", pids.join(" "))
}

/// A time in the largest unit that tells it.
fn span(seconds: i64) -> String {
    match seconds {
        s if s >= 2 * 86_400 => format!("{} days", s / 86_400),
        s if s >= 2 * 3_600 => format!("{} hours", s / 3_600),
        s if s >= 120 => format!("{} minutes", s / 60),
        s => format!("{s} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::Launched;

    fn build() -> Build {
        Build { machine: "x86_64", sha256: "new".to_owned(), bytes: 1 << 20 }
    }

    /// What is found on a host that says this beside what is fine.
    fn found(more: &str) -> Vec<Finding> {
        let text = format!(
            "jlpns-launch 1\nfact system Linux\nfact machine x86_64\nfact folder /x\nfact clock 1000\n\
             fact free 9999999\nfact cores 2\nfact memory 9999999\nfact executes yes\nfact reaches yes\n{more}\ndone x\n"
        );
        let answer = Answer::read(&text);
        let build = build();
        let with = Compared { build: Some(&build), coordinator: Some("c:7070"), clock: 1000 };
        diagnose(&Survey::of(&answer), &answer, &with)
    }

    #[test]
    fn a_host_that_is_fine_has_no_findings() {
        assert_eq!(found(""), []);
        assert_eq!(found("fact clock 1060"), []);
        assert_eq!(found("fact manager usable\nfact lingers yes"), []);
    }

    #[test]
    fn each_problem_has_a_remedy() {
        for (more, words, is_problem) in [
            ("fact machine aarch64", "processor is aarch64", true),
            ("fact system FreeBSD", "runs FreeBSD", true),
            ("fact free 5", "no room", true),
            ("fact executes no", "noexec", true),
            ("fact unwritable Permission denied", "cannot be written to", true),
            (
                "fact reaches Connection refused",
                "does not reach the coordinator at c:7070: Connection refused",
                true,
            ),
            ("fact clock 1061", "61 seconds ahead", true),
            ("fact clock -86400", "24 hours behind", true),
            ("fact clock 1000000", "11 days ahead", true),
            ("fact strays 5", "has lost its pid file (pid 5)", true),
            ("fact pid 7\nfact build old", "another build runs there (pid 7)", false),
            ("fact pid 7\nfact build new", "a worker runs there (pid 7)", false),
            ("fact others 9", "not launched into this folder (pid 9)", false),
            ("fact memory 1000", "0 MiB of memory are free for 2 slots", false),
            ("fact kills yes", "ends all processes", true),
            ("fact manager usable", "enable-linger", false),
            ("fact manager unreachable\nfact lingers yes", "does not answer", false),
        ] {
            let found = found(more);
            assert_eq!(found.len(), 1, "{more}: {found:?}");
            let line = format!("{}; {}", found[0].message, found[0].remedy);
            assert!(line.contains(words), "{more}: {line}");
            assert_eq!(found[0].is_problem, is_problem, "{more}");
            assert!(!found[0].remedy.is_empty());
        }
    }

    #[test]
    fn problems_come_first() {
        let found = found("fact pid 7\nfact build old\nfact clock 9000");
        assert_eq!(
            found.iter().map(|finding| finding.is_problem).collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[test]
    fn what_was_not_said_is_not_spoken_of() {
        let with = Compared { build: None, coordinator: None, clock: i64::MIN };
        let survey = Survey {
            system: "Linux".to_owned(),
            launched: Launched::default(),
            ..Survey::default()
        };
        assert_eq!(diagnose(&survey, &Answer::default(), &with), []);
    }
}
