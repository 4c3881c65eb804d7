//! What is to be done on a host so that the wanted worker runs there.

use crate::binary::Build;
use crate::survey::Survey;
use crate::trouble::{Cause, Trouble};

/// The room that files beside the worker need, with some for its log.
const MORE_ROOM: u64 = 1 << 20;

/// The worker that is to run on a host.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The worker.
    pub build: &'a Build,
    /// What tells its flags and credentials from others.
    pub settings: &'a str,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The wanted worker runs.
    LeaveAlone,
    /// None runs.
    Start {
        /// Whether its file is not there yet.
        copies: bool,
    },
    /// Another one runs, which has to drain.
    Replace {
        /// Whether the file is not there yet.
        copies: bool,
        /// What is another.
        why: Why,
    },
}

/// Why a worker is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is another build.
    Build,
    /// It has other flags or credentials.
    Flags,
    /// Nothing tells what it is.
    Unknown,
}

impl Step {
    /// Whether the worker is sent.
    pub fn copies(self) -> bool {
        match self {
            Step::LeaveAlone => false,
            Step::Start { copies } | Step::Replace { copies, .. } => copies,
        }
    }
}

/// What is to be done on a host that was looked at, or why nothing can be.
pub fn plan(survey: &Survey, wanted: Wanted<'_>) -> Result<Step, Trouble> {
    fits(survey, wanted.build)?;
    let is_build = |digest: &Option<String>| digest.as_ref() == Some(&wanted.build.sha256);
    let launched = &survey.launched;
    let copies = !is_build(&survey.file);
    let has_settings = launched.settings.as_deref() == Some(wanted.settings);
    let is_wanted = is_build(&launched.build) && has_settings;
    if survey.pid.is_some() && survey.strays.is_empty() && is_wanted {
        return Ok(Step::LeaveAlone);
    }
    if copies {
        has_room(survey, wanted.build)?;
    }
    if survey.running().is_none() {
        return Ok(Step::Start { copies });
    }
    let why = match (survey.pid, is_build(&launched.build)) {
        (None, _) => Why::Unknown,
        (_, false) if launched.build.is_some() => Why::Build,
        (_, false) => Why::Unknown,
        _ if !survey.strays.is_empty() && has_settings => Why::Unknown,
        _ => Why::Flags,
    };
    Ok(Step::Replace { copies, why })
}

/// Whether a worker of this build can run on the host.
pub fn fits(survey: &Survey, build: &Build) -> Result<(), Trouble> {
    if !survey.missing.is_empty() {
        let missing = survey.missing.join(", ");
        return Err(Trouble::new(
            Cause::ToolsMissing,
            format!("it lacks {missing}"),
            "install coreutils and sed there".to_owned(),
        ));
    }
    if survey.system != "Linux" {
        return Err(Trouble::new(
            Cause::Architecture,
            format!("it runs {}, and workers run on Linux", survey.system),
            "take it out of the hosts".to_owned(),
        ));
    }
    if !build.runs_on(&survey.machine) {
        return Err(Trouble::new(
            Cause::Architecture,
            format!(
                "its processor is {}, and the worker is built for {}",
                survey.machine, build.machine
            ),
            format!(
                "build jlpns-worker for {}, and launch these hosts with --worker-binary",
                survey.machine
            ),
        ));
    }
    Ok(())
}

/// Whether there is room for the worker.
pub fn has_room(survey: &Survey, build: &Build) -> Result<(), Trouble> {
    let needed = build.bytes.saturating_add(MORE_ROOM);
    match survey.free {
        Some(free) if free < needed => {
            let (free, needed) = (mebibytes(free), mebibytes(needed));
            Err(Trouble::disk_full(&format!(
                "{free} MiB are free for {}, and {needed} are needed",
                survey.folder
            )))
        }
        _ => Ok(()),
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::Launched;

    fn build() -> Build {
        Build { machine: "x86_64", sha256: "new".to_owned(), bytes: 10 << 20 }
    }

    fn survey() -> Survey {
        Survey {
            system: "Linux".to_owned(),
            machine: "x86_64".to_owned(),
            free: Some(1 << 30),
            ..Survey::default()
        }
    }

    fn launched(build: &str, settings: &str) -> Launched {
        Launched {
            build: Some(build.to_owned()),
            settings: Some(settings.to_owned()),
            ..Launched::default()
        }
    }

    fn planned(survey: &Survey) -> Result<Step, Cause> {
        let build = build();
        plan(survey, Wanted { build: &build, settings: "flags" }).map_err(|trouble| trouble.cause)
    }

    #[test]
    fn the_same_build_with_the_same_flags_is_left_alone() {
        let file = Some("new".to_owned());
        let runs = Survey { pid: Some(7), file, launched: launched("new", "flags"), ..survey() };
        assert_eq!(planned(&runs), Ok(Step::LeaveAlone));
        let ended = Survey { pid: None, ..runs.clone() };
        assert_eq!(planned(&ended), Ok(Step::Start { copies: false }));
        let two = Survey { strays: vec![8], ..runs.clone() };
        assert_eq!(planned(&two), Ok(Step::Replace { copies: false, why: Why::Unknown }));
        let full = Survey { free: Some(0), ..runs };
        assert_eq!(planned(&full), Ok(Step::LeaveAlone));
    }

    #[test]
    fn what_differs_is_replaced() {
        let runs = Survey { pid: Some(7), ..survey() };
        let with = |launched, file: &str| {
            planned(&Survey { launched, file: Some(file.to_owned()), ..runs.clone() })
        };
        assert_eq!(
            with(launched("old", "flags"), "old"),
            Ok(Step::Replace { copies: true, why: Why::Build })
        );
        assert_eq!(
            with(launched("new", "other"), "new"),
            Ok(Step::Replace { copies: false, why: Why::Flags })
        );
        assert_eq!(
            with(Launched::default(), "new"),
            Ok(Step::Replace { copies: false, why: Why::Unknown })
        );
        let stray = Survey { strays: vec![8], ..survey() };
        assert_eq!(planned(&stray), Ok(Step::Replace { copies: true, why: Why::Unknown }));
    }

    #[test]
    fn a_host_that_cannot_run_it_is_told_from_others() {
        assert_eq!(planned(&survey()), Ok(Step::Start { copies: true }));
        let cases = [
            (Survey { machine: "aarch64".to_owned(), ..survey() }, Cause::Architecture),
            (Survey { system: "Darwin".to_owned(), ..survey() }, Cause::Architecture),
            (Survey { free: Some(10 << 20), ..survey() }, Cause::DiskFull),
            (Survey { missing: vec!["dd".to_owned()], ..survey() }, Cause::ToolsMissing),
        ];
        for (survey, cause) in cases {
            assert_eq!(planned(&survey), Err(cause));
        }
        // One that does not say how much is free is tried.
        assert_eq!(planned(&Survey { free: None, ..survey() }), Ok(Step::Start { copies: true }));
    }
}
