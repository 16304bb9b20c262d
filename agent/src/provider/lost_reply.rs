//! [`LostReplySink`]: receives the attempts of a request that a service bills without a turn.

/// A receiver of the attempts that failed after the service had begun its reply, such as a stream that broke off.
///
/// A service bills the prompt of such an attempt but reports no usage, so budgets count its estimated tokens. A provider that makes
/// several attempts calls the sink after each one, the last one included.
#[derive(Clone, Copy)]
pub struct LostReplySink<'a>(&'a (dyn Fn() + Send + Sync));

impl<'a> LostReplySink<'a> {
    /// Creates a sink from a function, which must not block.
    pub fn new(send: &'a (dyn Fn() + Send + Sync)) -> Self {
        Self(send)
    }

    /// Reports a failed attempt.
    pub fn send(&self) {
        (self.0)();
    }
}
