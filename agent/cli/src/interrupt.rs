//! Ctrl-C: the first cancels what runs, the second ends the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tools::CancellationToken;

use crate::error::Error;
use crate::exit::Exit;

/// A token that the first Ctrl-C cancels. Listening has begun when this returns.
pub(crate) fn token() -> Result<CancellationToken, Error> {
    let mut interrupts = listen().map_err(Error::Runtime)?;
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        if interrupts.recv().await.is_some() {
            cancelled.cancel();
        }
        // A tool that does not heed its token must not keep a person from leaving.
        if interrupts.recv().await.is_some() {
            leave();
        }
    });
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
        let mut signals = listen().map_err(Error::Runtime)?;
        let interrupts = Self::default();
        let heard = interrupts.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                match &*heard.current() {
                    Some(token) if !token.is_cancelled() => token.cancel(),
                    None if stays => {}
                    Some(_) | None => leave(),
                }
            }
        });
        Ok(interrupts)
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

fn leave() -> ! {
    std::process::exit(i32::from(Exit::Cancelled as u8))
}

#[cfg(unix)]
fn listen() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn listen() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}
