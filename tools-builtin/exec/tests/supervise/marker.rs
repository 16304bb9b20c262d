//! [`Marker`]: recognises the descendants of one program from outside.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A value in the environment of a program, which its descendants inherit. A drop kills them.
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) const VARIABLE: &str = "SUPERVISED";

    pub(crate) fn new() -> Self {
        Self(format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn from_value(value: String) -> Self {
        Self(value)
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// Returns the processes with this marker that have not ended. Looks three times, because a process that forks and ends
    /// can hide from one look.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut found: Vec<u32> = (0..3).flat_map(|_| self.look()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Fails if a process with this marker is left.
    pub(crate) fn assert_gone(&self) {
        let left = self.processes().into_iter().map(|pid| fs::read(format!("/proc/{pid}/cmdline")));
        let left: Vec<_> = left.map(|line| String::from_utf8_lossy(&line.unwrap_or_default()).into_owned()).collect();
        assert!(left.is_empty(), "left: {left:?}");
    }

    fn look(&self) -> impl Iterator<Item = u32> + use<> {
        let variable = format!("{}={}", Self::VARIABLE, self.0).into_bytes();
        pids().filter(move |pid| {
            // It is empty after the end.
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|entry| entry == variable)
        })
    }

    /// Kills the processes with this marker, so that a failing test leaves none.
    pub(crate) fn kill(&self) {
        while !self.processes().is_empty() {
            self.look().for_each(kill);
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the fields of a process after its name: state, parent, group, session, terminal and so on.
pub(crate) fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

pub(crate) fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    // An error means that the process has ended.
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).expect("a process"), signal);
}
