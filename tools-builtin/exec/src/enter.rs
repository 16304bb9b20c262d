//! [`enter`]: the first line of `main` in programs that run others.
//!
//! ```text
//! right: fn main() { tools_exec::enter(); runtime().block_on(session()) }
//! wrong: #[tokio::main] async fn main() { tools_exec::enter(); session().await }
//! ```
//!
//! The supervisor has a runtime of its own, which cannot wait inside of another. So no program starts by the wrong one.

/// Takes the role for which this crate started the program again. Returns at once in any other process.
///
/// Call it in the first line of `main`: no thread runs yet, and nothing has been printed. Each program that a tool runs has a supervisor:
/// this program, started again under another name. It starts this program once more, which confines itself and becomes the program. In
/// these processes the function never returns. No program can be started before the first call.
pub fn enter() {
    #[cfg(target_os = "linux")]
    {
        let name = std::env::args_os().next().unwrap_or_default();
        if name == crate::supervise::SUPERVISOR {
            crate::supervise::serve();
        }
        // Bubblewrap cannot set the name apart from the path.
        if std::path::Path::new(&name).file_name() == Some(crate::walls::HOST_NAME.as_ref()) {
            crate::walls::confine_and_run();
        }
    }
    crate::entered::set_entered();
}
