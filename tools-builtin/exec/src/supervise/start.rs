//! [`start`]: starts a program under a supervisor.

use super::capture::Collect;
use super::error::StartError;
use super::launch::Launch;
use super::running::Running;

/// Starts a program, whose output goes to the collectors. Must be called in a Tokio runtime with I/O.
///
/// Dropping the future ends the program.
///
/// # Errors
/// Returns an error if the program cannot be executed, or no supervisor can be started.
#[cfg(target_os = "linux")]
pub async fn start<C: Collect>(
    launch: &Launch,
    stdout: C,
    stderr: C,
) -> Result<Running<C>, StartError> {
    use std::sync::{Arc, Mutex};

    use tokio::sync::watch;

    use super::running::{Status, lock};
    use super::spawn::spawn;
    use super::streams::Opened;
    use super::watch::{drain, follow};

    if !crate::entered::has_entered() {
        return Err(StartError::NotEntered);
    }
    let streams = if launch.has_terminal {
        Opened::terminal()
    } else {
        Opened::pipes()
    };
    let streams = streams.map_err(StartError::Streams)?;
    let [stdin, stdout_of_program, stderr_of_program] = streams.program;
    let stdin = match &launch.gate {
        Some(gate) => gate.pass(stdin).map_err(StartError::Streams)?,
        None => stdin,
    };
    let (pid, leash, supervised) =
        spawn(launch, [stdin, stdout_of_program, stderr_of_program]).await?;

    let (gone, tree_gone) = watch::channel(false);
    let (publish, status) = watch::channel(Status::Running);
    let stdout = Arc::new(Mutex::new(stdout));
    let stderr = Arc::new(Mutex::new(stderr));
    let mut drains = vec![drain(streams.stdout, stdout.clone(), tree_gone.clone())];
    match streams.stderr {
        Some(stream) => drains.push(drain(stream, stderr.clone(), tree_gone)),
        None => lock(&stderr).finish(),
    }
    tokio::spawn(follow(supervised, drains, gone, publish));
    Ok(Running {
        pid,
        stdin: streams.stdin,
        stdout,
        stderr,
        status,
        leash,
    })
}

/// Starts a program, whose output goes to the collectors.
///
/// # Errors
/// Returns an error on this operating system.
#[cfg(not(target_os = "linux"))]
pub async fn start<C: Collect>(_: &Launch, _: C, _: C) -> Result<Running<C>, StartError> {
    Err(StartError::Unsupported)
}
