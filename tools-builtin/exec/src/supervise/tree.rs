//! Ends a program with all its descendants.

use std::collections::HashSet;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};
use rustix::thread::nanosleep;

use super::ended::Exit;
use super::process::{Descendants, Process, children};

/// The number of times that new children are looked for before other descendants are.
const CHILD_PASSES: usize = 1024;

/// How long no process has to end before the others are reported as remaining.
const STUCK_AFTER: Duration = Duration::from_secs(5);

/// The pauses between two attempts, which double.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(128));

/// The descendants of the calling process, which must be a subreaper.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) program: Pid,
    pub(super) exit: Option<Exit>,
}

impl Tree {
    /// `program` is a child of the calling process.
    pub(super) fn new(program: Pid) -> Self {
        Self {
            program,
            exit: None,
        }
    }

    /// Reaps children that ended, and returns their number. Returns `None` if no descendant is left: one whose parents ended
    /// is a child of a subreaper.
    pub(super) fn reap(&mut self) -> Option<usize> {
        let mut reaped = 0;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    reaped += 1;
                    if pid == self.program {
                        self.exit = Some(exit(status));
                    }
                }
                Ok(None) => return Some(reaped),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// Kills all descendants and returns the number of those that cannot be killed.
    ///
    /// Ends when no descendant is left, however many come meanwhile, or when nothing has ended for [`STUCK_AFTER`].
    pub(super) fn end(&mut self) -> usize {
        let (mut pause, longest) = PAUSES;
        let mut idle = Duration::ZERO;
        let mut killed: HashSet<Process> = HashSet::new();
        loop {
            let Some(reaped) = self.reap() else { return 0 };
            kill_children();
            // Ends deep trees at once, and all trees if the kernel does not list children.
            let found = Descendants::find().unwrap_or_default();
            let before = killed.len();
            for process in &found.list {
                if process.signal(Signal::KILL, &found.family).is_ok() {
                    killed.insert(*process);
                }
            }
            if reaped > 0 || killed.len() > before {
                (pause, idle) = (PAUSES.0, Duration::ZERO);
            } else if idle >= STUCK_AFTER {
                // /proc may not show a child that the kernel knows.
                return found.list.len().max(1);
            }
            // The end of a child interrupts it.
            if let Ok(pause) = pause.try_into() {
                let _ = nanosleep(&pause);
            }
            idle += pause;
            pause = longest.min(pause * 2);
        }
    }
}

/// Kills the children of this process, which is quick enough for orphans that fork and end at once.
fn kill_children() {
    let mut killed = HashSet::new();
    for _ in 0..CHILD_PASSES {
        let new: Vec<_> = children()
            .into_iter()
            .filter(|child| killed.insert(*child))
            .collect();
        if new.is_empty() {
            break;
        }
        for child in new {
            // Its number cannot belong to another process, because nothing is reaped meanwhile.
            let _ = kill_process(child, Signal::KILL);
        }
    }
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
