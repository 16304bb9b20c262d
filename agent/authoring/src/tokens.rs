//! The cost of a definition in tokens.

use std::fmt;

use tools::protocol::wire::Format;

/// A number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) count: usize,
    /// True if the family of models has another tokenizer than the one that counted.
    pub(crate) is_estimate: bool,
}

impl Tokens {
    /// Counts the tokens of a text in a request of this format, with OpenAI's tokenizer `o200k_base`.
    #[cfg(feature = "tokenizer")]
    pub(crate) fn count(text: &str, format: Format) -> Self {
        let is_estimate = !matches!(format, Format::OpenAiChat | Format::OpenAiResponses);
        Self {
            count: tiktoken_rs::o200k_base_singleton().count_ordinary(text),
            is_estimate,
        }
    }

    /// Estimates the tokens of a text as a quarter of its bytes.
    #[cfg(not(feature = "tokenizer"))]
    pub(crate) fn count(text: &str, _format: Format) -> Self {
        Self {
            count: text.len().div_ceil(4),
            is_estimate: true,
        }
    }
}

/// Writes `120`, or `~120` for an estimate.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            if self.is_estimate { "~" } else { "" },
            self.count
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"name":"fs__read","description":"Reads a text file."}"#;

    #[test]
    fn the_tokens_of_a_foreign_family_are_marked_as_an_estimate() {
        let [own, foreign] =
            [Format::OpenAiChat, Format::Anthropic].map(|format| Tokens::count(TEXT, format));
        assert_eq!(own.count, foreign.count);
        assert_eq!(foreign.to_string(), format!("~{}", foreign.count));
        assert_eq!(own.is_estimate, cfg!(not(feature = "tokenizer")));
    }

    #[test]
    #[cfg(feature = "tokenizer")]
    fn counts_are_those_of_the_tokenizer() {
        assert_eq!(
            Tokens::count("tiktoken is great!", Format::OpenAiChat).count,
            6
        );
    }
}
