//! [`ErrorWords`]: the codes and the words of services for each kind of error.

use std::sync::LazyLock;

use agent::FailureKind;
use serde::Deserialize;

/// The sizes that a context can have.
const SIZES: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// The codes and words of services by kind. The sources of the codes are the error pages of OpenAI, Azure, Anthropic, Google, Mistral, Groq,
/// OpenRouter, DeepSeek, Moonshot, DashScope, Z.ai and llama.cpp.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorWords {
    /// The codes and types, without case and punctuation. Each is more specific than a status. The first kind counts.
    pub(crate) codes: Vec<(FailureKind, Vec<String>)>,
    /// The codes that say no more than a status, such as that of an unknown model under 404.
    pub(crate) general_codes: Vec<(FailureKind, Vec<String>)>,
    /// The words before the size of the context, in the messages about it. The first that a number follows count.
    before_sizes: Vec<String>,
    /// The only rules that read messages: these services give the kind in no code. The first words count.
    messages: Vec<MessageWords>,
}

/// The words of a message that tell its kind. The file has an example of each, and its source.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageWords {
    kind: FailureKind,
    /// In lower case and without backticks. Parts with `…` between them are in any order.
    words: String,
}

pub(crate) static ERROR_WORDS: LazyLock<ErrorWords> = LazyLock::new(|| {
    // A test reads the file.
    serde_json::from_str(include_str!("error_words.json")).unwrap_or_default()
});

impl ErrorWords {
    /// Returns the kind of an error from its message.
    pub(crate) fn kind_of(&self, message: &str) -> Option<FailureKind> {
        let message = plain(message);
        let mut known = self.messages.iter();
        let found = known.find(|it| it.words.split(" … ").all(|part| message.contains(part)))?;
        Some(found.kind)
    }

    /// Returns the size of the context that a message names.
    pub(crate) fn size_in(&self, message: &str) -> Option<u64> {
        let message = plain(message);
        let mut before = self.before_sizes.iter();
        before.find_map(|before| number(&message[message.find(before)? + before.len()..]))
    }
}

fn plain(message: &str) -> String {
    message.to_lowercase().replace('`', "")
}

/// Returns the number that a text begins with, if a context can have this size.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',');
    let digits = text[..end.unwrap_or(text.len())].replace(',', "");
    digits.parse().ok().filter(|size| SIZES.contains(size))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::service_error::ServiceError;

    #[test]
    fn each_wording_is_known_in_every_form_of_an_error_with_the_size_that_it_names() {
        let file: Value = serde_json::from_str(include_str!("error_words.json")).unwrap();
        for known in file["messages"].as_array().unwrap() {
            let message = known["example"].as_str().unwrap();
            assert!(known["source"].is_string(), "{known}");
            let kind: FailureKind = serde_json::from_value(known["kind"].clone()).unwrap();
            for body in [
                json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string(),
                json!({"error": {"message": message, "type": null, "code": "400"}}).to_string(),
                json!({"error": message}).to_string(),
                json!({"object": "error", "message": message, "code": 400}).to_string(),
                json!({"detail": [{"msg": message}]}).to_string(),
                json!({"success": false, "errors": [{"message": message}]}).to_string(),
                message.to_uppercase(),
            ] {
                let error = ServiceError::from_body(&body);
                for status in [400, 422] {
                    assert_eq!(error.kind(Some(status)), kind, "{status} {body}");
                }
                assert_eq!(error.kind(Some(429)), FailureKind::RateLimit, "{body}");
                assert_eq!(error.kind(Some(401)), FailureKind::Authentication, "{body}");
                assert_eq!(error.kind(Some(503)), FailureKind::Overloaded, "{body}");
                if kind == FailureKind::ContextLength {
                    assert_eq!(error.kind(Some(500)), kind, "{body}");
                    assert_eq!(error.kind(Some(413)), kind, "{body}");
                }
            }
            // An error inside of a stream has neither a status nor a code.
            let error = ServiceError::from_body(&json!({"error": message}).to_string());
            assert_eq!(error.kind(None), kind, "{message}");
            if kind == FailureKind::ContextLength {
                let size = ERROR_WORDS.size_in(&error.message);
                assert_eq!(size, known["size"].as_u64(), "{message}");
            }
        }
    }

    #[test]
    fn other_limits_than_that_of_the_context_stay_what_they_are() {
        for message in [
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 130",
            "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40",
            "The image is too large: its longest side has more than 8000 pixels",
            "max_tokens must be less than or equal to 8192",
            "There are too many tools; the limit is 128",
        ] {
            assert_eq!(ERROR_WORDS.kind_of(message), None, "{message}");
        }
        let limited =
            "Request too large for m on tokens per minute (TPM): Limit 6000, Requested 8413";
        let limited =
            json!({"error": {"message": limited, "type": "tokens", "code": "rate_limit_exceeded"}});
        let limited = ServiceError::from_body(&limited.to_string());
        assert_eq!(limited.kind(Some(429)), FailureKind::RateLimit);
        assert_eq!(limited.kind(Some(413)), FailureKind::ContextLength);
        assert_eq!(
            ERROR_WORDS.size_in("maximum context length is 3 tokens"),
            None
        );
        assert_eq!(
            ERROR_WORDS.size_in("A CONTEXT WINDOW of 200,000 tokens"),
            Some(200_000)
        );
    }
}
