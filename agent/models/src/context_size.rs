//! Compares requests with the model's context, and reads its size from the refusal of a request that is too long.

use agent::{FailureKind, ProviderError, Request, WireToolSet};
use tools::protocol::{Message, Part};

use crate::error_words::ERROR_WORDS;
use crate::retry::Failure;

/// Returns the tokens that a refusal names. Returns `None` for other errors.
pub(crate) fn named(error: &ProviderError) -> Option<u64> {
    let (ProviderError::Status {
        kind: FailureKind::ContextLength,
        message,
        ..
    }
    | ProviderError::Reported {
        kind: FailureKind::ContextLength,
        message,
        ..
    }) = error
    else {
        return None;
    };
    ERROR_WORDS.size_in(message)
}

/// Estimates the tokens of a request without its images.
pub(crate) fn estimated(request: &Request<'_>, tools: &WireToolSet) -> u64 {
    let bytes = |part: &Part| match part {
        Part::Content(content) => content.as_text().map_or(0, str::len),
        Part::Reasoning { text, .. } => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
        Part::ToolResult { result, .. } => result.to_text().len(),
        _ => 0,
    };
    let bytes_of = |message: &Message| message.parts.iter().map(bytes).sum::<usize>();
    let messages: usize = request.messages.iter().map(bytes_of).sum();
    let definitions: usize = tools.list().map(|tool| tool.definition.len()).sum();
    (messages + definitions) as u64 / 4
}

/// Creates the failure of a request that is longer than the context.
pub(crate) fn exceeded(provider: &str, tokens: u64, context: u64) -> Failure {
    let message =
        format!("the request has about {tokens} tokens, and the context of the model {context}");
    let error = ProviderError::Reported {
        provider: provider.to_owned(),
        kind: FailureKind::ContextLength,
        status: None,
        message,
        retry_after: None,
    };
    Failure {
        error,
        is_transient: false,
    }
}
