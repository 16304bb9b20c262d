//! Ctrl-C: the first cancels the run, the second ends the program.

use std::sync::{Arc, Mutex, MutexGuard};

use tools::CancellationToken;
use tools::IgnorePoison as _;

use crate::console::Console;
use crate::error::Error;
use crate::exit::Exit;

/// Returns a token that the first Ctrl-C cancels. The signal handler is installed when this returns.
pub(crate) fn token(console: &Arc<Console>) -> Result<CancellationToken, Error> {
    let token = CancellationToken::new();
    // The token stays attached: a tool that ignores it must not prevent a second Ctrl-C from ending the program.
    let attached = Arc::new(Mutex::new(Some(Attached::new(token.clone()))));
    Interrupts {
        attached,
        console: console.clone(),
    }
    .listen(false)?;
    Ok(token)
}

/// Cancels the token when the system asks the program to end.
#[cfg(any(
    feature = "cron",
    feature = "mcp",
    all(feature = "journal", feature = "web")
))]
pub(crate) fn cancel_on_termination(token: CancellationToken) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let mut terminate = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
        tokio::spawn(async move {
            terminate.recv().await;
            token.cancel();
        });
    }
    #[cfg(not(unix))]
    drop(token);
    Ok(())
}

/// Handles Ctrl-C in a program that continues after it: the first cancels the attached token, a second one before the run has
/// ended ends the program.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    attached: Arc<Mutex<Option<Attached>>>,
    console: Arc<Console>,
}

#[derive(Debug)]
struct Attached {
    token: CancellationToken,
    /// Set by the first Ctrl-C. The token does not tell: failing output cancels it too.
    is_interrupted: bool,
}

impl Attached {
    fn new(token: CancellationToken) -> Self {
        Self {
            token,
            is_interrupted: false,
        }
    }
}

/// A token attached to Ctrl-C until this guard is dropped.
#[derive(Debug)]
pub(crate) struct AttachedToken<'a>(&'a Interrupts);

impl Interrupts {
    /// Installs the signal handler. Without an attached token, Ctrl-C ends the program unless `ignores_idle` is set.
    pub(crate) fn new(ignores_idle: bool, console: &Arc<Console>) -> Result<Self, Error> {
        Self {
            attached: Arc::default(),
            console: console.clone(),
        }
        .listen(ignores_idle)
    }

    fn listen(self, ignores_idle: bool) -> Result<Self, Error> {
        let mut signals = listen().map_err(Error::Runtime)?;
        let interrupts = self.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if !ignores_idle || interrupts.current().is_some() {
                    interrupts.console.interrupt();
                }
                match &mut *interrupts.current() {
                    Some(attached) if !attached.is_interrupted => {
                        attached.is_interrupted = true;
                        attached.token.cancel();
                    }
                    None if ignores_idle => {}
                    Some(_) | None => std::process::exit(i32::from(Exit::Cancelled as u8)),
                }
            }
        });
        Ok(self)
    }

    /// Attaches the token that Ctrl-C cancels.
    pub(crate) fn attach(&self, token: CancellationToken) -> AttachedToken<'_> {
        *self.current() = Some(Attached::new(token));
        AttachedToken(self)
    }

    fn current(&self) -> MutexGuard<'_, Option<Attached>> {
        self.attached.lock().ignore_poison()
    }
}

impl Drop for AttachedToken<'_> {
    fn drop(&mut self) {
        *self.0.current() = None;
    }
}

#[cfg(unix)]
fn listen() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn listen() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}
