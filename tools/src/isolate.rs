//! Isolation: a panic goes no further than the future it happens in.

use std::any::Any;
use std::future::Future;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Whether panics of tools are contained: whether this build unwinds. With `panic = "abort"` every panic ends the process. A host
/// that relies on the wall has the compiler check it:
///
/// ```
/// const _: () = assert!(tools::call::ISOLATES_PANICS, "set panic = \"unwind\" in this profile");
/// ```
pub const ISOLATES_PANICS: bool = cfg!(panic = "unwind");

/// A future behind a wall: whether making it, polling it or dropping it panics, the outcome is a message.
///
/// Once it is ready it is gone; polling it again stays pending. Needs `panic = "unwind"`, see [`ISOLATES_PANICS`].
pub struct Isolated<F>(State<F>);

enum State<F> {
    Running(F),
    Failed(Panic),
    Gone,
}

/// The message of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic(pub String);

impl Panic {
    /// Runs code that ends at once, and keeps its panic. Unwind safety is asserted: drop what a panic may have left half done, and do
    /// not use it again.
    ///
    /// # Errors
    /// Returns the panic.
    pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(run)).map_err(Self::from_payload)
    }

    /// Reads the message of a payload. A payload may itself panic when it is dropped; that second payload is leaked.
    pub fn from_payload(payload: Box<dyn Any + Send>) -> Self {
        let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "a panic without a message".to_owned(),
        };
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            forget(second);
        }
        Self(message)
    }
}

impl<F: Future + Unpin> Isolated<F> {
    /// Makes the future. Where that panics, the message comes when it is polled.
    pub fn new(make: impl FnOnce() -> F) -> Self {
        Self(match Panic::catch(make) {
            Ok(future) => State::Running(future),
            Err(panic) => State::Failed(panic),
        })
    }
}

impl<F> Isolated<F> {
    /// Drops the future.
    fn discard(&mut self) -> Result<(), Panic> {
        if let State::Gone = self.0 {
            return Ok(());
        }
        // In its place: where its drop panics, what is assigned is there all the same.
        Panic::catch(|| self.0 = State::Gone)
    }
}

impl<F: Future + Unpin> Future for Isolated<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.0 {
            State::Gone => return Poll::Pending,
            State::Failed(panic) => Err(panic.clone()),
            State::Running(future) => match Panic::catch(|| Pin::new(future).poll(task)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(panic) => Err(panic),
            },
        };
        // A panic while its remains are dropped counts like one while it ran, unless that one came first.
        Poll::Ready(match (outcome, self.discard()) {
            (Ok(_), Err(panic)) => Err(panic),
            (outcome, _) => outcome,
        })
    }
}

impl<F> Drop for Isolated<F> {
    fn drop(&mut self) {
        // Whoever drops it has an outcome already (a timeout, a cancellation), and the panic hook has reported this one.
        let _ = self.discard();
    }
}

impl<F> std::fmt::Debug for Isolated<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Isolated").finish_non_exhaustive()
    }
}
