//! [`Isolated`]: a future that catches its panics.

use std::any::Any;
use std::future::Future;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// True if this build catches the panics of tools, because it unwinds. With `panic = "abort"` every panic ends the process.
///
/// A host that relies on isolation checks it at compile time:
///
/// ```
/// const _: () = assert!(tools::call::ISOLATES_PANICS, "set panic = \"unwind\" in this profile");
/// ```
pub const ISOLATES_PANICS: bool = cfg!(panic = "unwind");

/// A future that returns a [`Panic`] if creating, polling or dropping the inner future panics.
///
/// The inner future is dropped when it is ready; further polls stay pending. Needs `panic = "unwind"`, see [`ISOLATES_PANICS`].
pub struct Isolated<F>(IsolatedState<F>);

enum IsolatedState<F> {
    Running(F),
    Failed(Panic),
    Gone,
}

/// The message of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic(pub String);

impl Panic {
    /// Runs a synchronous function and catches its panic. Asserts unwind safety: after a panic, drop all state that `run` may have
    /// left inconsistent.
    ///
    /// # Errors
    /// Returns the panic if `run` panicked.
    pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(run)).map_err(Self::from_payload)
    }

    /// Returns the message of a panic payload. If dropping the payload panics too, the second payload is leaked.
    pub fn from_payload(payload: Box<dyn Any + Send>) -> Self {
        let message = match (
            payload.downcast_ref::<&str>(),
            payload.downcast_ref::<String>(),
        ) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "a panic without a message".to_owned(),
        };
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // Dropping it could panic again, without end.
            forget(second);
        }
        Self(message)
    }
}

impl<F: Future + Unpin> Isolated<F> {
    /// Creates the inner future. If that panics, the first poll returns the panic.
    pub fn new(make: impl FnOnce() -> F) -> Self {
        Self(match Panic::catch(make) {
            Ok(future) => IsolatedState::Running(future),
            Err(panic) => IsolatedState::Failed(panic),
        })
    }
}

impl<F> Isolated<F> {
    /// Drops the inner future.
    fn discard(&mut self) -> Result<(), Panic> {
        if let IsolatedState::Gone = self.0 {
            return Ok(());
        }
        // An assignment stores the new value even if dropping the old one panics.
        Panic::catch(|| self.0 = IsolatedState::Gone)
    }
}

impl<F: Future + Unpin> Future for Isolated<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.0 {
            IsolatedState::Gone => return Poll::Pending,
            IsolatedState::Failed(panic) => Err(panic.clone()),
            IsolatedState::Running(future) => match Panic::catch(|| Pin::new(future).poll(task)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(panic) => Err(panic),
            },
        };
        // A panic during the drop counts too, unless the future panicked before.
        Poll::Ready(match (outcome, self.discard()) {
            (Ok(_), Err(panic)) => Err(panic),
            (outcome, _) => outcome,
        })
    }
}

impl<F> Drop for Isolated<F> {
    fn drop(&mut self) {
        // The call has an outcome already, such as a timeout, and the panic hook has reported this panic.
        let _ = self.discard();
    }
}
