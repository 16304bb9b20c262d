//! LLM backends: the [`Provider`] trait, and functions that look up linked providers by name.
//!
//! A provider that is not linked is passed to [`Driver::new`](crate::Driver::new).

mod direct;
mod error;
mod failure_kind;
mod generation;
pub(crate) mod guarded;
mod linked;
mod lost_reply;
mod option;
mod prompt;
mod request_retry;
mod scripted;
mod submission;
mod timeouts;
mod turn;

use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use tools::CancellationToken;
use tools::protocol::Message;
use tools::protocol::wire::{Format, Strictness};

use crate::{ToolSet, WireToolSet};

pub use direct::Direct;
pub use error::ProviderError;
pub use failure_kind::FailureKind;
pub use generation::{GenerationOptions, ReasoningEffort, ToolChoice, UnknownEffort};
/// Re-exported for `inventory::submit!` of a [`ProviderSubmission`].
pub use inventory;
pub use linked::{conflicts, get, list, problems};
pub use lost_reply::LostReplySink;
pub use option::{ProviderOptions, Proxy};
pub use request_retry::{RequestRetry, RetryCause, RetrySink};
pub use scripted::Scripted;
pub use submission::{ModelService, ProviderSubmission};
pub use timeouts::{RetryPolicy, Timeouts};
pub use tools::is_plain_url;
pub use tools_text::{KeyError, KeySource};
pub use turn::{StopReason, Turn, Usage};

/// The future returned by [`Provider::complete`].
pub type TurnFuture<'a> = Pin<Box<dyn Future<Output = Result<Turn, ProviderError>> + Send + 'a>>;

/// An LLM backend or a substitute for one. Object-safe.
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
    /// Returns the name of the provider, for people.
    fn name(&self) -> &str;

    /// Returns the configured model, as the service spells it. Returns `None` if there is no model.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns the name of the service in spans, such as `gcp.gemini`. The default is the name of the provider.
    fn service_name(&self) -> &str {
        self.name()
    }

    /// Returns the URL of the service. Returns `None` if there is none. Spans have its host and its port.
    fn base_url(&self) -> Option<&str> {
        None
    }

    /// Returns the settings of the model's answers, for spans. Requests always offer the tool that their tool choice names. Returns `None` if
    /// there are none.
    fn generation(&self) -> Option<&GenerationOptions> {
        None
    }

    /// Returns the format in which the model knows the tools. Errors then use its names of tools and arguments. Returns `None` if the
    /// model knows the names of the catalog.
    fn wire(&self) -> Option<Format> {
        None
    }

    /// Returns the tokens of the model's context. Returns `None` if they are unknown.
    fn context_tokens(&self) -> Option<u64> {
        None
    }

    /// Returns the tokens of the context that a request keeps free for its turn, because the service counts the output limit as a part
    /// of the request. The default is 0.
    fn reserved_tokens(&self) -> u64 {
        0
    }

    /// Returns true if a model uses tokens for the turns, so that those without a [`Usage`] are estimated for budgets.
    fn is_metered(&self) -> bool {
        true
    }

    /// Returns the tools of a set in the form in which the provider sends them. Returns `None` if it sends those of the catalog.
    fn wire_tools<'s>(&self, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
        self.wire()
            .map(|format| tools.wire(format, Strictness::Relaxed))
    }

    /// Returns an error if the provider will refuse this request each time. A run that begins with such a request is neither
    /// recorded nor resumable. The default accepts every request, because only the service can tell.
    ///
    /// # Errors
    /// Returns the error of [`complete`](Self::complete).
    fn check(&self, request: Request<'_>) -> Result<(), ProviderError> {
        let _ = request;
        Ok(())
    }

    /// Returns the model's next turn. The caller may drop the future when the request is cancelled.
    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a>;
}

/// A request for the model's next turn.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The conversation, oldest message first.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a ToolSet,
    /// Cancelled when the turn is no longer needed.
    pub cancellation: &'a CancellationToken,
    /// The path of the sub-agent that asks, such as `review/tests`. `None` means the session's own agent.
    pub agent: Option<&'a str>,
    /// True if the last message asks for a summary of the conversation, so that no call may be forced.
    pub is_summary: bool,
    /// The tokens that the output limit of this request permits at least. 0 unless it asks for a summary.
    pub min_output_tokens: u32,
    /// The time after which the provider starts no further attempt.
    pub deadline: Option<Instant>,
    /// The receiver of streamed text.
    pub text_sink: Option<TextSink<'a>>,
    /// The receiver of the request's retries.
    pub retry_sink: Option<RetrySink<'a>>,
    /// The receiver of the attempts that failed after their reply had begun.
    pub lost_reply_sink: Option<LostReplySink<'a>>,
}

/// A receiver of a turn's text while the model writes it.
///
/// The pieces that a provider sends must add up to the texts of the turn that it returns. A provider may send no piece at all. A
/// [retry](RequestRetry::withdraws_text) can withdraw the pieces before it.
#[derive(Clone, Copy)]
pub struct TextSink<'a>(&'a (dyn Fn(&str) + Send + Sync));

impl<'a> Request<'a> {
    /// Creates a request of a session's own agent, without a deadline or sinks.
    pub fn new(
        messages: &'a [Message],
        tools: &'a ToolSet,
        cancellation: &'a CancellationToken,
    ) -> Self {
        Self {
            messages,
            tools,
            cancellation,
            agent: None,
            is_summary: false,
            min_output_tokens: 0,
            deadline: None,
            text_sink: None,
            retry_sink: None,
            lost_reply_sink: None,
        }
    }
}

impl<'a> TextSink<'a> {
    /// Creates a sink from a function, which must not block.
    pub fn new(send: &'a (dyn Fn(&str) + Send + Sync)) -> Self {
        Self(send)
    }

    /// Sends the next piece of text.
    pub fn send(&self, text: &str) {
        (self.0)(text);
    }
}
