//! A cluster of Slurm on this machine: Debian's daemons with a configuration, keys and sockets of their own, and nodes
//! that are all this machine under other names.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::bare;
use crate::faults::watch::soon;

/// The daemons, which end when this value is dropped; the jobs end before them.
#[derive(Debug)]
pub struct Slurm {
    folder: TempDir,
    daemons: Vec<Child>,
}

/// A job, or one of an array: its id, as `squeue` and `scancel` take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job(pub String);

impl Slurm {
    /// A cluster with so many nodes of one processor each. Must be run by root, who the jobs belong to.
    ///
    /// # Panics
    ///
    /// If Slurm is not installed, or does not come up.
    pub fn start(nodes: usize) -> Slurm {
        let folder = tempfile::Builder::new().prefix("slurm-").tempdir().expect("a folder");
        // Munge wants a way to its socket that nobody else may change, and that all may go.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("a mode");
        let mut slurm = Slurm { folder, daemons: Vec::new() };
        slurm.write("munge.key", &format!("{:x<128}", std::process::id()), 0o400);
        slurm.write("slurm.conf", &slurm.configuration(nodes), 0o644);
        // Whatever it would do with control groups, it does nothing of it without the plugins that use them.
        slurm.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n", 0o644);
        fs::create_dir(slurm.path("state")).expect("a folder");
        let option = |name: &str, file: &str| format!("--{name}={}", slurm.path(file).display());
        let munge = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            option("socket", "munge.socket"),
            option("key-file", "munge.key"),
            option("log-file", "munge.log"),
            option("pid-file", "munge.pid"),
            option("seed-file", "munge.seed"),
        ];
        slurm.daemon("munged", munge);
        let socket = slurm.path("munge.socket");
        soon("munge listens", || socket.exists().then_some(()));
        slurm.daemon("slurmctld", ["-D"]);
        for node in 0..nodes {
            slurm.daemon("slurmd", ["-D".to_owned(), "-N".to_owned(), format!("n{node}")]);
        }
        soon("the nodes are idle", || {
            let states = slurm.try_run("sinfo", ["--noheader", "--Node", "--format=%T"])?;
            (states.lines().filter(|state| *state == "idle").count() == nodes).then_some(())
        });
        slurm
    }

    fn configuration(&self, nodes: usize) -> String {
        // Held together until all are known, so that they are different.
        let held: Vec<TcpListener> =
            (0..=nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let ports: Vec<u16> =
            held.iter().map(|it| it.local_addr().expect("an address").port()).collect();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a host name");
        let (host, folder) = (host.trim(), self.folder.path().display());
        let mut text = format!(
            "ClusterName=jlpns\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={folder}/munge.socket\n\
             CredType=cred/munge\n\
             SlurmUser=root\n\
             SlurmdUser=root\n\
             StateSaveLocation={folder}/state\n\
             SlurmdSpoolDir={folder}/spool-%n\n\
             SlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmctldLogFile={folder}/slurmctld.log\n\
             SlurmdLogFile={folder}/slurmd-%n.log\n\
             SlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             MpiDefault=none\n\
             PlugStackConfig=/dev/null\n\
             SchedulerParameters=sched_interval=1,sched_min_interval=0\n\
             ReturnToService=2\n\
             JobRequeue=1\n\
             KillWait=10\n",
            ports[0]
        );
        for (node, port) in ports[1..].iter().enumerate() {
            text += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 \
                 RealMemory=8000 State=UNKNOWN\n"
            );
        }
        text + "PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).expect("a file");
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).expect("a mode");
    }

    fn daemon<S: AsRef<OsStr>>(&mut self, program: &str, args: impl IntoIterator<Item = S>) {
        let mut command = self.command(program);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        self.daemons.push(child.unwrap_or_else(|error| {
            panic!("{program}: {error}; Slurm is in Debian's packages slurm-wlm and munge")
        }));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = bare(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SLURM_")) {
            command.env_remove(name);
        }
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    fn try_run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Option<String> {
        let output = self.command(program).args(args).output().expect("Slurm is installed");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(said)
    }

    /// Runs a command of Slurm; what it says.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn run<S: AsRef<OsStr>>(&self, program: &str, args: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command(program);
        let output = command.args(args).output().expect("Slurm is installed");
        assert!(output.status.success(), "{command:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Submits a script from a folder.
    pub fn submit(&self, folder: &Path, args: &[&str]) -> Job {
        let mut command = self.command("sbatch");
        let output = command.current_dir(folder).arg("--parsable").args(args).output();
        let output = output.expect("Slurm is installed");
        assert!(output.status.success(), "{command:?}: {output:?}");
        Job(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// What `scontrol` knows of a job: the value of a field, of each job of an array.
    pub fn field(&self, job: &Job, field: &str) -> Vec<String> {
        let shown = self.run("scontrol", ["show", "job", "--oneliner", &job.0]);
        let of_line = |line: &str| {
            let value = line
                .split_whitespace()
                .find_map(|word| word.strip_prefix(field).and_then(|rest| rest.strip_prefix('=')));
            value.unwrap_or_else(|| panic!("no {field} in {line}")).to_owned()
        };
        shown.lines().filter(|line| !line.trim().is_empty()).map(of_line).collect()
    }

    /// The states of a job, of each of an array.
    pub fn states(&self, job: &Job) -> Vec<String> {
        self.field(job, "JobState")
    }

    /// Has a job that was requeued start in a few seconds, and not in two minutes. Within the same second, its node would
    /// take it for what it was told to end.
    pub fn start_again(&self, job: &Job) {
        soon("the job waits for its next start", || {
            (self.states(job) == ["PENDING"]).then_some(())
        });
        let id = format!("JobId={}", job.0);
        self.run("scontrol", ["update", &id, "StartTime=now+3"]);
    }

    /// What Slurm itself has written down, for a test that fails.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("slurmctld.log")).unwrap_or_default()
    }
}

impl Job {
    /// One of an array.
    pub fn task(&self, index: usize) -> Job {
        Job(format!("{}_{index}", self.0))
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("slurmctld: {}", self.log());
        }
        // Jobs are no children of ours: they end before who could end them.
        let _ = self.try_run("scancel", ["--user=root"]);
        let _ = self.try_run("scancel", ["--user=root", "--signal=KILL", "--full"]);
        let is_over = || {
            let jobs = self.try_run("squeue", ["--noheader"])?;
            jobs.trim().is_empty().then_some(())
        };
        let _ = crate::faults::watch::within(crate::cluster::LIMIT, is_over);
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}
