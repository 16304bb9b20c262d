//! Other processes of this program.

/// Returns true if a process may still run.
pub(crate) fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    process.is_none_or(|process| {
        // Another error says that it belongs to another user, and runs.
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}
