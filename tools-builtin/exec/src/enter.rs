//! [`enter`]: the first line of `main` in programs that run others.

/// Takes the role for which this crate started the program again. Returns at once in any other process.
///
/// Call it in the first line of `main`. Each program that a tool runs has a supervisor: this program, started again under
/// another name. In such a process the function never returns. Nothing can be started before the first call.
pub fn enter() {
    #[cfg(target_os = "linux")]
    if std::env::args_os().next().is_some_and(|name| name == crate::supervise::SUPERVISOR) {
        crate::supervise::serve();
    }
    crate::entered::set_entered();
}
