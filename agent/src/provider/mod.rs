//! LLM backends: the [`Provider`] trait, and the ones that this process knows by name.
//!
//! The functions here work on the process-wide registry, as those of [`tools`] do on the process-wide catalog:
//! [`Providers`] is the same as a plain value.

mod conflict;
mod direct;
mod entry;
mod error;
mod global;
mod option;
mod problem;
mod prompt;
mod register_error;
mod registry;
mod scripted;
mod turn;

use std::future::Future;
use std::pin::Pin;

use tools::{CancellationToken, Message};

use crate::ToolSet;

pub use conflict::ProviderConflict;
pub use direct::Direct;
pub use entry::{ProviderEntry, ProviderSubmission};
pub use error::ProviderError;
pub use global::{conflicts, contains, get, list, problems, register, replace, snapshot, submit, unregister};
/// Its `submit!` takes a [`ProviderSubmission`].
pub use inventory;
pub use option::ProviderOptions;
pub use problem::ProviderProblem;
pub use register_error::RegisterProviderError;
pub use registry::Providers;
pub use scripted::Scripted;
pub use turn::{Stop, Turn, Usage};

/// What a provider gives, some time later.
pub type TurnFuture<'a> = Pin<Box<dyn Future<Output = Result<Turn, ProviderError>> + Send + 'a>>;

/// An LLM backend, or something that plays one. Object-safe.
///
/// ```
/// use agent::{Provider, Request, Turn, TurnFuture};
///
/// struct Parrot;
///
/// impl Provider for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
///         let last = request.messages.last().map(|message| message.to_text()).unwrap_or_default();
///         Box::pin(async move { Ok(Turn::answer(last)) })
///     }
/// }
/// ```
pub trait Provider: Send + Sync {
    /// The name that it is known by, for people.
    fn name(&self) -> &str;

    /// The model's next turn. Whoever waits for it may drop the future when the request is cancelled.
    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a>;
}

/// What a provider is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The conversation so far, the oldest message first.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a ToolSet,
    /// Cancelled when nobody wants the turn any more.
    pub cancellation: &'a CancellationToken,
}

impl<'a> Request<'a> {
    /// A request.
    pub fn new(messages: &'a [Message], tools: &'a ToolSet, cancellation: &'a CancellationToken) -> Self {
        Self { messages, tools, cancellation }
    }
}
