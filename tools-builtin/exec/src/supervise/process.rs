//! Other processes, as `/proc` shows them.

use std::collections::{HashMap, HashSet};
use std::{fs, io};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal,
};

/// A process. Its number may belong to another one after its end; number and start together do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    started: u64,
    ended: bool,
}

impl Process {
    /// Returns `None` if the process does not exist.
    fn from_pid(pid: Pid) -> Option<Self> {
        let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name of the program is in parentheses and may contain any bytes.
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let fields = std::str::from_utf8(stat.get(name_end + 2..)?).ok()?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let threads: u32 = fields.nth(15)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        // The state is that of the first thread, which may have ended before others.
        Some(Self {
            pid,
            parent,
            started,
            ended: matches!(state, "Z" | "X") && threads <= 1,
        })
    }

    /// Sends a signal, if this process is still a descendant of the calling one. `family` contains the calling process and its
    /// descendants.
    ///
    /// # Errors
    /// Returns an error if the process may not be signalled.
    pub(super) fn signal(&self, signal: Signal, family: &HashSet<i32>) -> io::Result<()> {
        let sent = match pidfd_open(self.pid, PidfdFlags::empty()) {
            // If the number belongs to another process since the list was made, then to one that the descriptor refers to, or
            // the descriptor refers to an ended one and sending fails.
            Ok(process) if self.is_in(family) => pidfd_send_signal(process, signal),
            Ok(_) => return Ok(()),
            // Before Linux 5.3.
            Err(Errno::NOSYS) if self.is_in(family) => kill_process(self.pid, signal),
            Err(error) => Err(error),
        };
        match sent {
            Err(Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }

    fn is_in(&self, family: &HashSet<i32>) -> bool {
        Self::from_pid(self.pid).is_some_and(|now| family.contains(&now.parent))
    }
}

/// The descendants of the calling process that have not ended.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    /// Parents come before their children.
    pub(super) list: Vec<Process>,
    /// The numbers of the calling process and of its descendants, ended ones included.
    pub(super) family: HashSet<i32>,
}

impl Descendants {
    /// Lists them. A process that starts meanwhile may be missing.
    pub(super) fn find() -> io::Result<Self> {
        let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
                .and_then(Pid::from_raw);
            if let Some(process) = pid.and_then(Process::from_pid) {
                children.entry(process.parent).or_default().push(process);
            }
        }
        let own = getpid().as_raw_nonzero().get();
        let mut found = Self {
            list: Vec::new(),
            family: HashSet::from([own]),
        };
        let mut parents = vec![own];
        while let Some(parent) = parents.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                let pid = child.pid.as_raw_nonzero().get();
                found.family.insert(pid);
                parents.push(pid);
                if !child.ended {
                    found.list.push(child);
                }
            }
        }
        Ok(found)
    }
}

/// Returns the children of the calling process, which must have one thread. Returns none if the kernel does not list them.
pub(super) fn children() -> Vec<Pid> {
    let children = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    children
        .split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}
