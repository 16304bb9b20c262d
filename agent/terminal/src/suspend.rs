//! Ctrl-Z: stops the program, as a shell expects it.

use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getppid, getsid, kill_current_process_group};

/// The time that the system may take to stop all threads.
const STOP_TIME: Duration = Duration::from_millis(50);

/// Returns true if a shell could continue a stopped program. The system ignores Ctrl-Z without one.
pub fn has_shell() -> bool {
    // The shell is the parent of the first program of a pipeline.
    let parent = parent(getpgrp()).or_else(getppid);
    parent.is_some_and(|parent| getsid(Some(parent)) == getsid(None))
}

/// Stops the programs of the pipeline until a shell continues them. Leave the terminal as the shell expects it before.
pub fn stop() {
    // The others have got the signal of the terminal, and maybe handle it.
    let _ = kill_current_process_group(Signal::STOP);
    std::thread::sleep(STOP_TIME);
}

/// Returns the parent of a process. Returns `None` if the system does not tell.
fn parent(process: Pid) -> Option<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    let status = status.ok()?;
    // The name in front may contain anything.
    let (_, fields) = status.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}
