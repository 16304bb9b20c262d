//! [`start`]: starts a program under a supervisor.

use super::collect::Collect;
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
pub async fn start<C: Collect>(launch: &Launch, stdout: C, stderr: C) -> Result<Running<C>, StartError> {
    use std::sync::{Arc, Mutex};

    use tokio::sync::watch;

    use super::running::Status;
    use super::spawn::spawn;
    use super::stdin::Stdin;
    use super::watch::{drain, follow};

    if !crate::entered::has_entered() {
        return Err(StartError::NotEntered);
    }
    let pipes = || std::io::Result::Ok((std::io::pipe()?, std::io::pipe()?, std::io::pipe()?));
    let ((in_read, in_write), (out_read, out_write), (err_read, err_write)) =
        pipes().map_err(StartError::Supervisor)?;
    let stdin = launch.through_gate(in_read.into()).map_err(StartError::Supervisor)?;
    let (pid, leash, supervised) = spawn(launch, [stdin, out_write.into(), err_write.into()]).await?;

    let (gone, tree_gone) = watch::channel(false);
    let (publish, status) = watch::channel(Status::Running);
    let (stdout, stderr) = (Arc::new(Mutex::new(stdout)), Arc::new(Mutex::new(stderr)));
    let out = drain(out_read.into(), stdout.clone(), tree_gone.clone()).map_err(StartError::Supervisor)?;
    let err = drain(err_read.into(), stderr.clone(), tree_gone).map_err(StartError::Supervisor)?;
    let stdin = Stdin::from_pipe(in_write.into()).map_err(StartError::Supervisor)?;
    tokio::spawn(follow(supervised, [out, err], gone, publish));
    Ok(Running { pid, stdin, stdout, stderr, status, leash })
}

/// Starts a program, whose output goes to the collectors.
///
/// # Errors
/// Returns an error on this operating system.
#[cfg(not(target_os = "linux"))]
pub async fn start<C: Collect>(_: &Launch, _: C, _: C) -> Result<Running<C>, StartError> {
    Err(StartError::Unsupported)
}
