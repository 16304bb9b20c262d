//! [`Gate`]: brings a listener out of the network namespace of a program.
//!
//! A socket stays in the namespace in which it was made, whichever process has it. So the process that becomes the program makes the
//! listener in the program's namespace and sends it to this process, which accepts the program's connections without being there.
//!
//! The gate is a pair of sockets, one end of which takes the place of the program's standard input until the program starts. No
//! descriptor remains in the program: it gets its true standard input over the same pair.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tokio::io::Interest;

use crate::open_files::{receive, send};

/// The byte that goes with a file, because no message is empty.
const BYTE: &[u8] = &[0];

/// The way of a listener from the network namespace of a program to this process: a pair of sockets.
///
/// One end takes the place of the program's standard input until it starts, see [`Launch::gate`](crate::supervise::Launch::gate).
#[derive(Clone, Debug)]
pub struct Gate {
    outside: Arc<UnixStream>,
    inside: Arc<UnixStream>,
}

impl Gate {
    /// Creates a gate for one program.
    ///
    /// # Errors
    /// Returns an error if no sockets can be made.
    pub fn new() -> io::Result<Self> {
        let (outside, inside) = UnixStream::pair()?;
        Ok(Self {
            outside: Arc::new(outside),
            inside: Arc::new(inside),
        })
    }

    /// Sends the standard input of the program ahead, and returns the end that takes its place.
    pub(crate) fn pass(&self, stdin: OwnedFd) -> io::Result<OwnedFd> {
        send(&*self.outside, BYTE, &[stdin.as_fd()])?;
        Ok(self.inside.try_clone()?.into())
    }

    /// Waits for the listener. Waits forever if the program did not start.
    ///
    /// # Errors
    /// Returns an error if no listener can be received.
    pub async fn listener(self) -> io::Result<tokio::net::TcpListener> {
        let outside = self.outside.try_clone()?;
        outside.set_nonblocking(true)?;
        let outside = tokio::net::UnixStream::from_std(outside)?;
        let received = outside.async_io(Interest::READABLE, || receive::<1, 1>(&outside));
        let (_, [listener]) = received.await?;
        let listener = TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    }
}

/// Makes the listener in the namespace of this process, sends it through the gate at standard input, and returns the true standard
/// input.
pub(super) fn listen(address: SocketAddr) -> io::Result<OwnedFd> {
    let gate = io::stdin();
    let (_, [stdin]) = receive::<1, 1>(gate.as_fd())?;
    send(gate.as_fd(), BYTE, &[TcpListener::bind(address)?.as_fd()])?;
    Ok(stdin)
}
