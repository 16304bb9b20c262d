//! LLM backends: the [`Provider`] trait, and functions that look up linked providers by name.
//!
//! A provider that is not linked is passed to [`Driver::new`](crate::Driver::new).

mod direct;
mod error;
mod generation;
pub(crate) mod guarded;
mod image_limits;
mod info;
mod option;
mod price;
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

use crate::tool_set::ToolSet;

pub use self::error::{FailureKind, LostReplySink, ProviderError};
pub use self::submission::{ModelService, ProviderSubmission, conflicts, get, list, problems};
pub use direct::Direct;
pub use generation::{GenerationOptions, ReasoningEffort, ToolChoice, UnknownEffort};
pub use image_limits::ImageLimits;
pub use info::{ContextSize, ProviderInfo};
/// Re-exported for `inventory::submit!` of a [`ProviderSubmission`].
pub use inventory;
pub use option::{ProviderOptions, Proxy};
pub use price::{Cost, InvalidCost, Price, Rates};
pub use request_retry::{RequestRetry, RetryCause, RetrySink};
pub use scripted::Scripted;
pub use timeouts::{RetryPolicy, Timeouts};
pub use tools::is_plain_url;
pub use tools_text::{KeyError, KeySource};
pub use turn::{StopReason, Turn, Usage};

/// The future returned by [`Provider::complete`].
pub type TurnFuture<'a> = Pin<Box<dyn Future<Output = Result<Turn, ProviderError>> + Send + 'a>>;

/// An LLM backend or a substitute for one. Object-safe.
///
/// ```
/// use agent::{Provider, ProviderInfo, Request, Turn, TurnFuture};
///
/// struct Parrot;
///
/// impl Provider for Parrot {
///     fn about(&self) -> &ProviderInfo {
///         static PARROT: ProviderInfo = ProviderInfo::new("parrot");
///         &PARROT
///     }
///
///     fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
///         let last = request.messages.last().map(|message| message.to_text()).unwrap_or_default();
///         Box::pin(async move { Ok(Turn::answer(last)) })
///     }
/// }
/// ```
pub trait Provider: Send + Sync {
    /// Returns the facts about the provider and its model. They do not change, except for the size of the model's context.
    fn about(&self) -> &ProviderInfo;

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
    /// The number of the model's messages among them. `None` if it is not known: set it so together with other messages.
    pub replies: Option<usize>,
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
/// [retry](RequestRetry::withdraws_text) can withdraw the pieces before it. The sink must not block.
pub type TextSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

impl<'a> Request<'a> {
    /// Creates a request of a session's own agent, without a deadline or sinks.
    pub fn new(
        messages: &'a [Message],
        tools: &'a ToolSet,
        cancellation: &'a CancellationToken,
    ) -> Self {
        Self {
            messages,
            replies: None,
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
