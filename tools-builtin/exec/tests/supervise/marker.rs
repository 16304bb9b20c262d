//! [`Marker`]: recognises the descendants of one program from outside.

use std::fs::{self, File};
use std::io::Read as _;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The path of a named pipe in the environment of a program, which its descendants inherit. A drop kills them.
///
/// `/proc` does not show each process of a chain whose members fork and end at once. If they hold the pipe open for writing, the
/// kernel tells whether one of them is left.
pub(crate) struct Marker {
    path: String,
    reader: Option<(File, TempDir)>,
}

impl Marker {
    pub(crate) const VARIABLE: &str = "SUPERVISED";

    /// The beginning of a script that holds the pipe open.
    pub(crate) const HOLD: &str = "exec 9>$SUPERVISED; ";

    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let reader = File::from(open(&path, flags, Mode::empty()).expect("the pipe"));
        Self {
            path: path.into_os_string().into_string().expect("text"),
            reader: Some((reader, folder)),
        }
    }

    /// A marker of another process.
    pub(crate) fn from_path(path: String) -> Self {
        Self { path, reader: None }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if no process has this marker.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_closed() && self.processes().is_empty()
    }

    fn is_closed(&self) -> bool {
        // A pipe without a writer is at its end, one with a writer would block.
        self.reader
            .as_ref()
            .is_none_or(|(reader, _)| matches!((&*reader).read(&mut [0]), Ok(0)))
    }

    /// Returns the processes with this marker that have not ended.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let variable = format!("{}={}", Self::VARIABLE, self.path).into_bytes();
        let has_marker = |pid: &u32| {
            // It is empty after the end.
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|entry| entry == variable)
        };
        pids().filter(has_marker).collect()
    }

    /// Fails if a process with this marker is left.
    pub(crate) fn assert_gone(&self) {
        assert!(self.is_closed(), "a process holds the pipe open");
        let left = self
            .processes()
            .into_iter()
            .map(|pid| fs::read(format!("/proc/{pid}/cmdline")));
        let left: Vec<_> = left
            .map(|line| String::from_utf8_lossy(&line.unwrap_or_default()).into_owned())
            .collect();
        assert!(left.is_empty(), "left: {left:?}");
    }

    /// Kills the processes with this marker, so that a failing test leaves none.
    fn kill(&self) {
        let started = Instant::now();
        while !self.is_gone() && started.elapsed() < Duration::from_secs(10) {
            self.processes().into_iter().for_each(kill);
        }
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        if self.reader.is_some() {
            self.kill();
        }
    }
}

pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the fields of a process after its name: state, parent, group, session, terminal and so on.
pub(crate) fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    )
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
