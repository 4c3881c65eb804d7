//! Names that more than one worker has.

use std::collections::BTreeSet;

use jlpns_solve::WorkerInfo;

/// The names that were told of.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// Whether another process than that of `info` has its name, and nobody was told of the name yet.
    pub fn is_news<'a>(
        &mut self,
        info: &WorkerInfo,
        mut connected: impl Iterator<Item = &'a WorkerInfo>,
    ) -> bool {
        // A process that has lost touch comes again before its former connection is gone.
        let another = |other: &WorkerInfo| other.instance == 0 || other.instance != info.instance;
        connected.any(|other| other.name == info.name && another(other))
            && self.0.insert(info.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use jlpns_solve::belief::Identity;

    use super::*;

    fn worker(name: &str, instance: u64) -> WorkerInfo {
        let (machine, address) = (String::new(), String::new());
        let identity = Identity { certificate: None, machine, address };
        let (name, build) = (name.to_owned(), String::new());
        WorkerInfo { name, identity, build, slots: 1, memory: 0, instance }
    }

    #[test]
    fn a_name_of_two_processes_is_told_of_once() {
        let mut names = Names::default();
        let connected = [worker("a", 1), worker("b", 2)];
        assert!(!names.is_news(&worker("c", 3), connected.iter()));
        assert!(names.is_news(&worker("a", 3), connected.iter()));
        assert!(!names.is_news(&worker("a", 4), connected.iter()), "once");
        assert!(names.is_news(&worker("b", 4), connected.iter()));
    }

    #[test]
    fn a_process_that_comes_again_is_no_second_one() {
        let connected = [worker("a", 1)];
        assert!(!Names::default().is_news(&worker("a", 1), connected.iter()));
        let connected = [worker("a", 0)];
        assert!(Names::default().is_news(&worker("a", 0), connected.iter()), "nobody knows");
    }
}
