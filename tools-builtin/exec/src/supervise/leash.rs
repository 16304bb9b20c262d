//! [`Leash`]: ends a program from any thread, without a runtime.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// The host's end of the channel to a supervisor. A drop ends the program.
#[derive(Debug)]
pub(super) struct Leash(UnixStream);

impl Leash {
    pub(super) fn new(channel: &UnixStream) -> io::Result<Self> {
        channel.try_clone().map(Self)
    }

    /// Ends the program. The supervisor can still report.
    pub(super) fn pull(&self) {
        // An error means that the supervisor is gone.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.pull();
    }
}
