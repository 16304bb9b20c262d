//! Ctrl-C: the first cancels what runs, the second ends the program.

use tools::CancellationToken;

use crate::error::Error;
use crate::exit::Exit;

#[cfg(unix)]
fn listen() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn listen() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

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
            std::process::exit(i32::from(Exit::Cancelled as u8));
        }
    });
    Ok(token)
}
