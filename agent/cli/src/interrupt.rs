//! Ctrl-C: the first cancels what runs, the second ends the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tools::CancellationToken;

use crate::error::Error;
use crate::exit::Exit;

/// A token that the first Ctrl-C cancels. Listening has begun when this returns.
pub(crate) fn token() -> Result<CancellationToken, Error> {
    let token = CancellationToken::new();
    // Never unwatched: a tool that does not heed its token must not keep a person from leaving.
    Interrupts(Arc::new(Mutex::new(Some(token.clone())))).listen(false)?;
    Ok(token)
}

/// Ctrl-C in a program that goes on after it: the first one cancels what is under way, and a second one before that has ended
/// ends the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts(Arc<Mutex<Option<CancellationToken>>>);

/// Something under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch<'a>(&'a Interrupts);

impl Interrupts {
    /// Listening has begun when this returns. While nothing is under way, Ctrl-C ends the program, or means nothing to one
    /// that `stays`.
    pub(crate) fn new(stays: bool) -> Result<Self, Error> {
        Self::default().listen(stays)
    }

    fn listen(self, stays: bool) -> Result<Self, Error> {
        let mut signals = listen().map_err(Error::Runtime)?;
        let heard = self.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                match &*heard.current() {
                    Some(token) if !token.is_cancelled() => token.cancel(),
                    None if stays => {}
                    Some(_) | None => std::process::exit(i32::from(Exit::Cancelled as u8)),
                }
            }
        });
        Ok(self)
    }

    /// From now on the token is what Ctrl-C cancels.
    pub(crate) fn watch(&self, token: CancellationToken) -> Watch<'_> {
        *self.current() = Some(token);
        Watch(self)
    }

    fn current(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch<'_> {
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
