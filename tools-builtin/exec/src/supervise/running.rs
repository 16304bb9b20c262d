//! [`Running`]: a program that was started.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWrite;
use tokio::sync::watch;

use super::capture::{Capture, Captured};
use super::ended::Ended;
use super::error::{StdinError, SupervisorLost};
use super::stdin::Stdin;

#[cfg(target_os = "linux")]
use super::spawn::Leash;

/// A program that was started, with a collector `C` for each of its output streams.
///
/// A drop ends the program with all its descendants, without waiting for it.
pub struct Running<C> {
    /// The number of the process that was started: the program, or the outermost wall around it.
    pub pid: u32,
    pub(super) stdin: Stdin,
    pub(super) stdout: Arc<Mutex<C>>,
    pub(super) stderr: Arc<Mutex<C>>,
    pub(super) status: watch::Receiver<Status>,
    #[cfg(target_os = "linux")]
    pub(super) leash: Leash,
}

/// The state of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The program runs.
    Running,
    /// The program has ended, its descendants too, and all its output was collected.
    Ended(Ended),
    /// The supervisor died before it reported an end.
    Lost(SupervisorLost),
}

impl<C> Running<C> {
    /// Returns the state now.
    pub fn status(&self) -> Status {
        *self.status.borrow()
    }

    /// Waits until the program has ended, its descendants are gone and all its output was collected. May be called again.
    ///
    /// # Errors
    /// Returns an error if the supervisor died.
    pub async fn wait(&self) -> Result<Ended, SupervisorLost> {
        let mut status = self.status.clone();
        let over = status
            .wait_for(|status| *status != Status::Running)
            .await
            .map(|status| *status);
        match over {
            Ok(Status::Ended(ended)) => Ok(ended),
            Ok(Status::Lost(lost)) => Err(lost),
            // The runtime that started the program was shut down.
            Ok(Status::Running) | Err(_) => Err(SupervisorLost { may_remain: true }),
        }
    }

    /// Returns a future of the end, which a drop of the program does not end.
    pub fn watch_end(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut status = self.status.clone();
        // Without a runtime that watches it, the end is not known.
        async move { drop(status.wait_for(|status| *status != Status::Running).await) }
    }

    /// Ends the program with all its descendants, by `SIGKILL`. [`wait`](Self::wait) returns when they are gone.
    pub fn stop(&self) {
        #[cfg(target_os = "linux")]
        self.leash.pull();
    }

    /// Writes to the standard input. Waits while the program does not read.
    ///
    /// # Errors
    /// Returns an error if the program has ended or standard input is closed.
    pub async fn write(&self, bytes: &[u8]) -> Result<(), StdinError> {
        tokio::select! {
            written = self.stdin.write(bytes) => written,
            // A process outside the tree may hold the pipe open.
            _ = self.wait() => Err(StdinError::Closed),
        }
    }

    /// Ends the standard input after all writes: closes a pipe, or writes ctrl-d to a terminal. Waits while the program does not read.
    ///
    /// # Errors
    /// Returns an error if the program has ended.
    pub async fn end_stdin(&self) -> Result<(), StdinError> {
        tokio::select! {
            ended = self.stdin.end() => ended,
            _ = self.wait() => Err(StdinError::Closed),
        }
    }

    /// Hands the standard input to the caller, whose drop closes it. Returns `None` if it is closed or a write is under way.
    pub fn take_stdin(&self) -> Option<Pin<Box<dyn AsyncWrite + Send>>> {
        self.stdin.take()
    }

    /// Writes to the standard input in the background and closes it. The program need not read.
    pub fn feed(&self, bytes: Vec<u8>) {
        let stdin = self.stdin.clone();
        let mut status = self.status.clone();
        tokio::spawn(async move {
            tokio::select! {
                // An error means that the program does not want more.
                _ = stdin.write(&bytes) => {}
                _ = status.wait_for(|status| *status != Status::Running) => {}
            }
            // An error means that it is closed.
            let _ = stdin.end().await;
        });
    }

    /// Calls `look` with the collector of standard output.
    pub fn with_stdout<R>(&self, look: impl FnOnce(&mut C) -> R) -> R {
        look(&mut lock(&self.stdout))
    }

    /// Calls `look` with the collector of standard error.
    pub fn with_stderr<R>(&self, look: impl FnOnce(&mut C) -> R) -> R {
        look(&mut lock(&self.stderr))
    }
}

impl Running<Capture> {
    /// Returns the standard output so far.
    pub fn stdout(&self) -> Captured {
        self.with_stdout(|stdout| stdout.to_text())
    }

    /// Returns the standard error so far.
    pub fn stderr(&self) -> Captured {
        self.with_stderr(|stderr| stderr.to_text())
    }
}

/// Locks a collector, also after a panic in it.
pub(super) fn lock<C>(collector: &Mutex<C>) -> MutexGuard<'_, C> {
    collector.lock().unwrap_or_else(PoisonError::into_inner)
}
