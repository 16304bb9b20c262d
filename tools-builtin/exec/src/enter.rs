//! The first line of a host's `main`.

/// Turns this process into a part of the sandbox if the sandbox started it, and returns at once otherwise.
///
/// A program that runs other programs re-executes itself to confine them, so this is the first line of its `main`:
/// no thread runs yet, and nothing has been printed.
pub fn enter() {
    #[cfg(target_os = "linux")]
    {
        let first = std::env::args_os().next().unwrap_or_default();
        if std::path::Path::new(&first).file_name() == Some(crate::walls::HOST_NAME.as_ref()) {
            crate::walls::confine_and_run();
        }
    }
}
