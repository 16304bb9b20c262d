//! [`Collect`]: where the output of a program goes.

use std::task::{Context, Poll};

/// Receives one output stream of a program.
pub trait Collect: Send + 'static {
    /// Returns ready if the next bytes may come. Until then they stay in the pipe, so that a program which writes more waits. After the
    /// program's end, the bytes in the pipe come at once.
    ///
    /// A collector that is always ready, which is the default, decides how many bytes it keeps.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Takes the next bytes. Must not block.
    fn push(&mut self, bytes: &[u8]);

    /// Notes that no bytes follow.
    fn finish(&mut self) {}
}
