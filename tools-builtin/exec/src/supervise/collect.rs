//! [`Collect`]: where the output of a program goes.

/// Receives one output stream of a program.
///
/// Bytes are never held back for a collector, so it decides how many of them it keeps.
pub trait Collect: Send + 'static {
    /// Takes the next bytes. Must not block.
    fn push(&mut self, bytes: &[u8]);

    /// Notes that no bytes follow.
    fn finish(&mut self) {}
}
