//! Compares requests with the model's context, and reads its size from the refusal of a request that is too long.

use agent::{FailureKind, ProviderError, Request, WireToolSet};
use tools::protocol::{Message, Part};

use crate::retry::Failure;

/// The words before the size in the messages of services: of llama.cpp, whose field is added to its message, and of LM Studio; of OpenAI,
/// DeepSeek and vLLM; of xAI; of LM Studio and vLLM; of Anthropic ("3333404 tokens > 200000 maximum"); of Mistral; of Kimi; of Gemini; of
/// Text Generation Inference; of SGLang; of Cohere; of TabbyAPI; of watsonx.ai; of others.
const BEFORE: [&str; 20] = [
    "n_ctx: ",
    "maximum context length is ",
    "maximum prompt length is ",
    "context length of only ",
    "context length is only ",
    " > ",
    "too large for model with ",
    "exceeded model token limit: ",
    "maximum number of tokens allowed (",
    "`max_new_tokens` must be <= ",
    "`inputs` must have less than ",
    "maximum allowed length (",
    "the model's context length (",
    "maximum context length of ",
    "tokens in the prompt cannot exceed ",
    "max_seq_len ",
    "total tokens limit ",
    "available context size (",
    "context size of ",
    "context window of ",
];

/// The sizes that a model can have.
const SIZES: std::ops::RangeInclusive<u64> = 256..=100_000_000;

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
    BEFORE
        .iter()
        .find_map(|before| number(&message[message.find(before)? + before.len()..]))
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
            (
                "However, the model's context length is only 4096 tokens, resulting in a maximum input length of 4096 tokens.",
                Some(4096),
            ),
            (
                "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 8683",
                Some(4097),
            ),
            (
                "Input length (8682 tokens) exceeds the maximum allowed length (4096 tokens).",
                Some(4096),
            ),
            (
                "Prompt length 8682 is greater than max_seq_len 4096",
                Some(4096),
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
