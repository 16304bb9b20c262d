//! The limits of known models, in tokens.

/// The most tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// A request and its turn share these tokens. A service that is told an output limit may count it as a part of the request.
    Shared(u64),
    /// A request alone may have these tokens, whatever its output limit is.
    Input(u64),
}

use Context::{Input, Shared};

/// The context and the most tokens of a turn, by the beginning of the model's name. An entry precedes those that it begins with.
const LIMITS: [(&str, Context, u64); 43] = [
    // https://platform.claude.com/docs/en/about-claude/models/overview, and for older models the page on deprecations. The context of
    // 1,000,000 tokens of `claude-sonnet-4` and `claude-sonnet-4-5` needs a beta header, which is not sent.
    ("claude-3-haiku", Shared(200_000), 4096),
    ("claude-3-sonnet", Shared(200_000), 4096),
    ("claude-3-opus", Shared(200_000), 4096),
    ("claude-3-5-haiku", Shared(200_000), 8192),
    ("claude-3-5-sonnet", Shared(200_000), 8192),
    ("claude-3-7-sonnet", Shared(200_000), 64_000),
    ("claude-haiku-4-5", Shared(200_000), 64_000),
    ("claude-sonnet-4-6", Shared(1_000_000), 128_000),
    ("claude-sonnet-4", Shared(200_000), 64_000),
    ("claude-sonnet-5", Shared(1_000_000), 128_000),
    ("claude-opus-4-5", Shared(200_000), 64_000),
    ("claude-opus-4-6", Shared(1_000_000), 128_000),
    ("claude-opus-4-7", Shared(1_000_000), 128_000),
    ("claude-opus-4-8", Shared(1_000_000), 128_000),
    ("claude-opus-4", Shared(200_000), 32_000),
    ("claude-opus-5", Shared(1_000_000), 128_000),
    ("claude-fable-5", Shared(1_000_000), 128_000),
    // https://ai.google.dev/gemini-api/docs/models: the limits of the input and the output are apart.
    ("gemini-2.0-flash", Input(1_048_576), 8192),
    ("gemini-2.5-flash", Input(1_048_576), 65_536),
    ("gemini-2.5-pro", Input(1_048_576), 65_536),
    ("gemini-3", Input(1_048_576), 65_536),
    ("gemini-flash", Input(1_048_576), 65_536),
    // https://platform.openai.com/docs/models. From version 5 on, a request may have the context less the output limit: of 400,000
    // tokens, or of 1,050,000.
    ("gpt-4.1", Shared(1_047_576), 32_768),
    ("gpt-4o-2024-05-13", Shared(128_000), 4096),
    ("gpt-4o", Shared(128_000), 16_384),
    ("gpt-4-turbo", Shared(128_000), 4096),
    ("gpt-5-chat", Shared(128_000), 16_384),
    ("gpt-5.1-chat", Shared(128_000), 16_384),
    ("gpt-5.2-chat", Shared(128_000), 16_384),
    ("gpt-5.3-chat", Shared(128_000), 16_384),
    ("gpt-5-pro", Input(272_000), 272_000),
    ("gpt-5.4-mini", Input(272_000), 128_000),
    ("gpt-5.4-nano", Input(272_000), 128_000),
    ("gpt-5.4", Input(922_000), 128_000),
    ("gpt-5.5", Input(922_000), 128_000),
    ("gpt-5.6", Input(922_000), 128_000),
    ("gpt-5", Input(272_000), 128_000),
    ("gpt-6", Input(922_000), 128_000),
    ("o1-mini", Shared(128_000), 65_536),
    ("o1-preview", Shared(128_000), 32_768),
    ("o1", Shared(200_000), 100_000),
    ("o3", Shared(200_000), 100_000),
    ("o4-mini", Shared(200_000), 100_000),
];

/// The words in the names of variants with other limits than the model that they are named after.
const VARIANTS: [&str; 9] = [
    "-audio",
    "-codex-spark",
    "-computer-use",
    "-image",
    "-live",
    "-omni",
    "-realtime",
    "-transcribe",
    "-tts",
];

/// The most tokens of a turn of an unknown model. Services that proxy other models refuse a higher limit.
const UNKNOWN_OUTPUT: u64 = 8192;

/// Returns the context of a model. Returns `None` if it is unknown.
pub(crate) fn context(model: &str) -> Option<Context> {
    limits(model).map(|(context, _)| context)
}

/// Returns the most tokens of a turn of the model.
pub(crate) fn output_limit(model: &str) -> u64 {
    limits(model).map_or(UNKNOWN_OUTPUT, |(_, output)| output)
}

/// Returns the name of a model without what gateways add. They put a vendor before it, such as `openai/` or `eu.anthropic.`, and write
/// `claude-sonnet-4.5`.
pub(crate) fn plain_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.find("claude-")
        .map_or_else(|| name.to_owned(), |at| name[at..].replace('.', "-"))
}

/// Returns the limits of a model.
fn limits(model: &str) -> Option<(Context, u64)> {
    let name = plain_name(model);
    let is_variant = VARIANTS.iter().any(|variant| name.contains(variant));
    let found = LIMITS
        .iter()
        .find(|(prefix, ..)| name.starts_with(prefix))
        .filter(|_| !is_variant);
    found.map(|(_, context, output)| (*context, *output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_the_names_that_gateways_give_it() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "publishers/anthropic/models/claude-sonnet-4-5@20250929",
        ] {
            assert_eq!(limits(name), Some((Shared(200_000), 64_000)), "{name}");
        }
        assert_eq!(
            limits("anthropic/claude-opus-4.6"),
            Some((Shared(1_000_000), 128_000))
        );
        assert_eq!(
            limits("openai/gpt-4o-mini"),
            Some((Shared(128_000), 16_384))
        );
        assert_eq!(
            limits("google/gemini-2.5-flash"),
            Some((Input(1_048_576), 65_536))
        );
    }

    #[test]
    fn other_models_are_unknown() {
        for name in [
            "qwen3",
            "claude-test",
            "gemini-2.5-flash-image",
            "gpt-4o-realtime-preview",
            "grok-4",
            "o5",
        ] {
            assert_eq!(
                (limits(name), output_limit(name)),
                (None, UNKNOWN_OUTPUT),
                "{name}"
            );
        }
    }

    #[test]
    fn no_entry_hides_a_later_one() {
        for (position, (prefix, ..)) in LIMITS.iter().enumerate() {
            assert!(
                !LIMITS[..position]
                    .iter()
                    .any(|(before, ..)| prefix.starts_with(before)),
                "{prefix}"
            );
        }
    }
}
