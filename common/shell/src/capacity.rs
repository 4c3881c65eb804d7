//! What the machine lets this process have: cores, and memory.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use jlpns_search::memory;

/// How many searches can run at a time: the cores that affinity and control groups leave, at most `most`.
pub fn cores(most: u32) -> u32 {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(cores).unwrap_or(most).min(most)
}

/// Reads a number of slots from 1 to `most`, or `auto`, which is one for each core that this process may use.
pub fn slots(text: &str, most: u32) -> Result<u32, String> {
    if text == "auto" {
        return Ok(cores(most));
    }
    let number = text.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("write a whole number from 1 to {most}, or auto"))
}

/// Reads an amount of memory: a size such as `2GiB`, or a share such as `50%` of what this process may have.
pub fn memory(text: &str) -> Result<u64, String> {
    let Some(percent) = text.trim().strip_suffix('%') else { return memory::parse(text) };
    let percent = percent.trim_end().parse::<f64>().ok();
    let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let percent = percent.ok_or("write a share above 0% and up to 100%, such as 50%")?;
    let all = Limits::of_this_process().memory();
    let all =
        all.ok_or("the system does not tell how much memory there is; write a size, such as 2GiB")?;
    Ok(((all as f64 * percent / 100.0) as u64).clamp(memory::LEAST, memory::MOST))
}

/// Where the system tells how much memory a process may have.
struct Limits {
    root: PathBuf,
}

impl Limits {
    fn of_this_process() -> Limits {
        Limits { root: PathBuf::from("/") }
    }

    fn number(&self, file: &Path) -> Option<u64> {
        fs::read_to_string(self.root.join(file)).ok()?.trim().parse().ok()
    }

    /// The least of what the machine has and what the control groups allow, in bytes.
    fn memory(&self) -> Option<u64> {
        let mut limits: Vec<u64> = self.of_machine().into_iter().collect();
        let groups = fs::read_to_string(self.root.join("proc/self/cgroup")).unwrap_or_default();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
            let (top, file) = if controllers.is_empty() {
                ("sys/fs/cgroup", "memory.max")
            } else if controllers.split(',').any(|controller| controller == "memory") {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            } else {
                continue;
            };
            // Each group above limits as well. In a container the top one is its own.
            let group = Path::new(group.trim_start_matches('/'));
            let groups = group.ancestors().map(|group| Path::new(top).join(group).join(file));
            limits.extend(groups.filter_map(|file| self.number(&file)));
        }
        limits.into_iter().min()
    }

    fn of_machine(&self) -> Option<u64> {
        let text = fs::read_to_string(self.root.join("proc/meminfo")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kibibytes = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
        kibibytes.checked_mul(1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_a_number_or_what_there_is() {
        assert_eq!((slots("1", 8), slots("8", 8)), (Ok(1), Ok(8)));
        assert_eq!(slots("auto", 1), Ok(1));
        assert_eq!(slots("auto", 1024), Ok(cores(1024)));
        for bad in ["", "0", "9", "-1", "all", "1.5", "AUTO"] {
            let sentence = "write a whole number from 1 to 8, or auto";
            assert_eq!(slots(bad, 8), Err(sentence.to_owned()), "{bad}");
        }
    }

    #[test]
    fn a_share_is_of_what_this_process_may_have() {
        assert_eq!(memory("2GiB"), Ok(2 << 30));
        let (half, all) = (memory("50%").expect("a share"), memory("100 %").expect("all"));
        assert!(half >= all / 2 - 1 && half <= all / 2 + 1, "{half} of {all}");
        assert_eq!(memory("0.0000001%"), Ok(memory::LEAST));
        for bad in ["%", "0%", "101%", "-5%", "NaN%", "half%"] {
            assert!(memory(bad).unwrap_err().contains("such as 50%"), "{bad}");
        }
        assert!(memory("much").unwrap_err().contains("512MiB"));
    }

    #[test]
    fn the_tightest_group_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let limits = Limits { root: folder.path().to_owned() };
        assert_eq!(limits.memory(), None);
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8192 kB\n");
        assert_eq!(limits.memory(), Some(8 << 20));
        write("proc/self/cgroup", "0::/user.slice/job.scope\n");
        write("sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
        assert_eq!(limits.memory(), Some(8 << 20));
        write("sys/fs/cgroup/user.slice/memory.max", "4194304\n");
        assert_eq!(limits.memory(), Some(4 << 20));
        write("sys/fs/cgroup/user.slice/job.scope/memory.max", "2097152\n");
        assert_eq!(limits.memory(), Some(2 << 20));
        // The older kind.
        write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/slurm/job_7\n");
        write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3145728\n");
        assert_eq!(limits.memory(), Some(3 << 20));
    }
}
