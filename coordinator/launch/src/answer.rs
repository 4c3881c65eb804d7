//! What a host says: lines after a mark, each with the word that tells what it is.

use std::collections::BTreeMap;

/// What stands before all that is ours: a login shell may have printed something.
const MARK: &str = "jlpns-launch 1";
/// The most characters that are kept of a line.
const MOST: usize = 4000;

/// What a script has said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether it has come to run at all.
    pub has_begun: bool,
    /// What it has found, by name; what is empty is not there.
    pub facts: BTreeMap<String, String>,
    /// The lines of a log.
    pub log: Vec<String>,
    /// What went wrong, as a word and more about it.
    pub trouble: Option<(String, String)>,
    /// What it came to, if it came to its end.
    pub done: Option<String>,
}

/// Text of another machine, fit for a terminal.
pub fn fit(text: &str) -> String {
    let fit = text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control());
    fit.take(MOST).collect::<String>().trim_end().to_owned()
}

/// The stage that a line announces, as words for people.
pub fn stage(line: &str) -> Option<&'static str> {
    Some(match line.strip_prefix("stage ")? {
        "copying" => "copying the worker",
        "draining" => "waiting for the old worker to drain",
        "aborting" => "making the old worker end",
        "starting" => "starting the worker",
        "connecting" => "connecting to the coordinator from there",
        "removing" => "removing its files",
        _ => return None,
    })
}

impl Answer {
    /// What the text on stdout says.
    pub fn read(text: &str) -> Answer {
        let mut answer = Answer::default();
        for line in text.lines() {
            if !answer.has_begun {
                answer.has_begun = line == MARK;
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (name, more) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "fact" if !more.trim().is_empty() => {
                    answer.facts.insert(fit(name), fit(more.trim()));
                }
                "log" => answer.log.push(fit(rest)),
                "trouble" => answer.trouble = Some((fit(name), fit(more))),
                "done" => answer.done = Some(fit(rest)),
                _ => {}
            }
        }
        answer
    }

    /// What it has found under a name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// The same as a number.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.fact(name)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_login_shell_prints_is_passed_over() {
        let text = "Welcome!\nfact pid 1\njlpns-launch 1\nfact pid 12\nfact said a  b \nfact none \n\
                    log x\x1b[31my\nlog \nstage copying\nnoise\ndone started\n";
        let answer = Answer::read(text);
        assert_eq!(answer.number("pid"), Some(12));
        assert_eq!((answer.fact("said"), answer.fact("none")), (Some("a  b"), None));
        assert_eq!(answer.log, ["x[31my", ""]);
        assert_eq!(answer.done.as_deref(), Some("started"));
        assert_eq!(Answer::read("Welcome!\ndone started\n"), Answer::default());
    }

    #[test]
    fn trouble_has_a_word_and_more() {
        let answer = Answer::read("jlpns-launch 1\ntrouble write No space left\n");
        assert_eq!(answer.trouble, Some(("write".to_owned(), "No space left".to_owned())));
        assert_eq!(stage("stage draining"), Some("waiting for the old worker to drain"));
        assert_eq!((stage("stage else"), stage("fact stage draining")), (None, None));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_reaches_the_terminal_as_it_is(text in ".{0,60}") {
            let answer = Answer::read(&format!("{MARK}\nfact a {text}\nlog {text}\ntrouble {text}"));
            let all = answer.facts.values().chain(&answer.log);
            for said in all {
                prop_assert!(!said.chars().any(char::is_control));
            }
        }
    }
}
