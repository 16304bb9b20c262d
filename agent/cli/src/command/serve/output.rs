//! Standard output for the messages of the protocol alone.

use std::io;

/// Returns standard output, and lets later prints to it go to standard error: a tool that prints would break the protocol.
#[cfg(unix)]
pub(super) fn take() -> io::Result<tokio::fs::File> {
    use std::os::fd::AsFd as _;

    let own = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
    Ok(tokio::fs::File::from_std(own.into()))
}

/// Returns standard output.
#[cfg(not(unix))]
pub(super) fn take() -> io::Result<tokio::io::Stdout> {
    Ok(tokio::io::stdout())
}
