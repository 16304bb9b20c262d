//! [`ErrorWords`]: the codes and the words of services for each kind of error.

use std::sync::LazyLock;

use agent::FailureKind;
use serde::Deserialize;

/// The codes and words of services by kind. The sources of the codes are the error pages of OpenAI, Azure, Anthropic, Google, Mistral, Groq,
/// OpenRouter, DeepSeek, Moonshot, DashScope, Z.ai and llama.cpp.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorWords {
    /// The codes and types, without case and punctuation. Each is more specific than a status. The first kind counts.
    pub(crate) codes: Vec<(FailureKind, Vec<String>)>,
    /// The codes that say no more than a status, such as that of an unknown model under 404.
    pub(crate) general_codes: Vec<(FailureKind, Vec<String>)>,
    /// The only rules that read messages: these services give the kind in no code.
    pub(crate) messages: Vec<MessageWords>,
}

/// The words of a message that tell its kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageWords {
    pub(crate) kind: FailureKind,
    pub(crate) words: String,
    /// A recorded reply, or a page.
    #[allow(dead_code, reason = "for readers of the file")]
    source: String,
}

pub(crate) static ERROR_WORDS: LazyLock<ErrorWords> = LazyLock::new(|| {
    // A test reads the file.
    serde_json::from_str(include_str!("error_words.json")).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_words_is_read_and_each_has_its_source() {
        let words: ErrorWords = serde_json::from_str(include_str!("error_words.json")).unwrap();
        assert!(!words.codes.is_empty() && !words.general_codes.is_empty());
        assert!(
            words
                .messages
                .iter()
                .all(|message| !message.source.is_empty())
        );
    }
}
