//! Compares requests with the model's context, and reads its size from the refusal of a request that is too long.

use agent::{FailureKind, ProviderError, Request, WireToolSet};
use tools::protocol::{Message, Part};

use crate::retry::Failure;

/// The words before the size in the messages of services: of llama.cpp, whose field is added to its message, and of LM Studio; of OpenAI,
/// DeepSeek and vLLM; of xAI; of LM Studio; of Anthropic ("3333404 tokens > 200000 maximum"); of Mistral; of Kimi; of Gemini; of others.
const BEFORE: [&str; 11] = [
    "n_ctx: ",
    "maximum context length is ",
    "maximum prompt length is ",
    "context length of only ",
    " > ",
    "too large for model with ",
    "exceeded model token limit: ",
    "maximum number of tokens allowed (",
    "available context size (",
    "context size of ",
    "context window of ",
];

/// The sizes that a model can have.
const SIZES: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// Returns the tokens that a refusal names. Returns `None` for other errors.
pub(super) fn named(error: &ProviderError) -> Option<u64> {
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
    BEFORE
        .iter()
        .find_map(|before| number(&message[message.find(before)? + before.len()..]))
}

/// Estimates the tokens of a request without its images.
pub(super) fn estimated(request: &Request<'_>, tools: &WireToolSet) -> u64 {
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
pub(super) fn exceeded(provider: &str, tokens: u64, context: u64) -> Failure {
    let message =
        format!("the request has about {tokens} tokens, and the context of the model {context}");
    let (provider, kind) = (provider.to_owned(), FailureKind::ContextLength);
    let error = ProviderError::Reported {
        provider,
        kind,
        status: None,
        message,
        retry_after: None,
    };
    Failure {
        error,
        is_transient: false,
    }
}

fn number(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(text.len());
    text[..end]
        .replace(',', "")
        .parse()
        .ok()
        .filter(|size| SIZES.contains(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_names_the_size_in_its_own_way() {
        for (message, size) in [
            (
                "the request exceeds the available context size, try increasing it (n_ctx: 2048)",
                Some(2048),
            ),
            (
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
                Some(4096),
            ),
            (
                "prompt is too long: 3333404 tokens > 200000 maximum",
                Some(200_000),
            ),
            (
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease",
                Some(200_000),
            ),
            (
                "(n_keep: 13055>= n_ctx: 4096). Try to load the model",
                Some(4096),
            ),
            (
                "exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("Input is too long for requested model.", None),
            ("maximum context length is 3 tokens", None),
        ] {
            let error = ProviderError::Reported {
                provider: "x".to_owned(),
                kind: FailureKind::ContextLength,
                status: None,
                message: message.to_owned(),
                retry_after: None,
            };
            assert_eq!(named(&error), size, "{message}");
        }
    }
}
