//! LLM backends: the [`Provider`] trait, and the functions that find linked providers by name.
//!
//! Any other provider is given to [`Driver::new`](crate::Driver::new) and needs no name.

mod direct;
mod error;
mod linked;
mod option;
mod patience;
mod prompt;
mod scripted;
mod submission;
mod turn;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use tools::CancellationToken;
use tools::protocol::Message;

use crate::ToolSet;

pub use direct::Direct;
pub use error::ProviderError;
/// Its `submit!` takes a [`ProviderSubmission`].
pub use inventory;
pub use linked::{ProviderConflict, ProviderProblem, conflicts, get, list, problems};
pub use option::{KeySource, ProviderOptions, is_plain_url};
pub use patience::Patience;
pub use scripted::Scripted;
pub use submission::ProviderSubmission;
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
    /// When the turn is of no use any more: no attempt begins after it.
    pub deadline: Option<Instant>,
    /// Who reads along while the model writes.
    pub reader: Option<TextReader<'a>>,
}

/// Hears the pieces of a turn's text as they come. The pieces that a provider tells are, together, the texts of the turn that
/// it gives; one that tells none is heard when its turn is there.
#[derive(Clone, Copy)]
pub struct TextReader<'a>(&'a (dyn Fn(&str) + Send + Sync));

impl<'a> Request<'a> {
    /// A request.
    pub fn new(messages: &'a [Message], tools: &'a ToolSet, cancellation: &'a CancellationToken) -> Self {
        Self { messages, tools, cancellation, deadline: None, reader: None }
    }

    /// Sets when the turn is of no use any more.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Option<Instant>) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets who reads along.
    #[must_use]
    pub fn with_reader(mut self, reader: TextReader<'a>) -> Self {
        self.reader = Some(reader);
        self
    }
}

impl<'a> TextReader<'a> {
    /// A reader. It must not block.
    pub fn new(reader: &'a (dyn Fn(&str) + Send + Sync)) -> Self {
        Self(reader)
    }

    /// Tells the next piece.
    pub fn read(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for TextReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextReader")
    }
}
