//! Ctrl-C and other signals: the first Ctrl-C cancels the run, the second ends the program, as `SIGTERM` and `SIGHUP` do.

use std::sync::{Arc, Mutex, MutexGuard};

use once_cell::sync::Lazy;
use rustix::process::Signal;
use terminal::{keyboard, suspend};
use tokio::signal::unix::SignalKind;
use tools::{CancellationToken, IgnorePoison as _};

use crate::error::Error;
use crate::session_view::SessionView;
use host::exit::Exit;

/// Cancelled when the program has to end.
static END: Lazy<CancellationToken> = Lazy::new(CancellationToken::new);

/// The token of a command that ends by itself when the system asks it to.
static TERMINATION: Mutex<Option<CancellationToken>> = Mutex::new(None);

/// Does the work of a command until a signal ends the program. Dropped work ends its background programs.
pub(crate) async fn until_end(
    work: impl Future<Output = Result<Exit, Error>>,
) -> Result<Exit, Error> {
    listen_to_system().map_err(Error::Runtime)?;
    let ended = END.run_until_cancelled(work).await;
    ended.unwrap_or(Err(Error::Cancelled))
}

/// Ends the program, also if its work blocks.
fn end() {
    END.cancel();
    std::thread::spawn(|| {
        host::end();
        keyboard::restore_echo();
        std::process::exit(i32::from(Exit::Cancelled as u8));
    });
}

/// Ends the program when the system asks for it or the terminal is closed, unless the person started it so that it goes on then.
fn listen_to_system() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        while terminate.recv().await.is_some() {
            match &*TERMINATION.lock().ignore_poison() {
                Some(token) => token.cancel(),
                None => end(),
            }
        }
    });
    if ignores_hangup() {
        return Ok(());
    }
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            end();
        }
    });
    Ok(())
}

/// Returns true if the process ignores `SIGHUP`, as `nohup` asks for, or if that is not known.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_none_or(|set| set & 1 == 1)
}

/// Returns a token that the first Ctrl-C cancels. The signal handler is installed when this returns.
pub(crate) fn token(view: &Arc<SessionView>) -> Result<CancellationToken, Error> {
    let token = CancellationToken::new();
    // The token stays attached: a tool that ignores it must not prevent a second Ctrl-C from ending the program.
    let attached = Arc::new(Mutex::new(Some(Attached::new(token.clone()))));
    Interrupts {
        attached,
        view: view.clone(),
    }
    .listen(false)?;
    Ok(token)
}

/// Lets the command end by itself when the system asks the program to end: cancels the token.
pub(crate) fn cancel_on_termination(token: CancellationToken) {
    *TERMINATION.lock().ignore_poison() = Some(token);
}

/// Handles Ctrl-C in a program that continues after it: the first cancels the attached token, a second one before the run has
/// ended ends the program.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    attached: Arc<Mutex<Option<Attached>>>,
    view: Arc<SessionView>,
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
    pub(crate) fn new(ignores_idle: bool, view: &Arc<SessionView>) -> Result<Self, Error> {
        Self {
            attached: Arc::default(),
            view: view.clone(),
        }
        .listen(ignores_idle)
    }

    fn listen(self, ignores_idle: bool) -> Result<Self, Error> {
        self.listen_to_stops().map_err(Error::Runtime)?;
        let mut signals = listen().map_err(Error::Runtime)?;
        let interrupts = self.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if !ignores_idle || interrupts.current().is_some() {
                    interrupts.view.console.interrupt();
                }
                match &mut *interrupts.current() {
                    Some(attached) if !attached.is_interrupted => {
                        attached.is_interrupted = true;
                        attached.token.cancel();
                    }
                    None if ignores_idle => {}
                    Some(_) | None => end(),
                }
            }
        });
        Ok(self)
    }

    /// Cleans the terminal when Ctrl-Z stops the program.
    fn listen_to_stops(&self) -> std::io::Result<()> {
        let kind = SignalKind::from_raw(Signal::TSTP.as_raw());
        let mut stops = tokio::signal::unix::signal(kind)?;
        let view = self.view.clone();
        tokio::spawn(async move {
            while stops.recv().await.is_some() {
                if suspend::has_shell() {
                    view.console.pause();
                    suspend::stop();
                    view.console.go_on();
                }
            }
        });
        Ok(())
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

fn listen() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}
