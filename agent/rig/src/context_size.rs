//! The sizes of the contexts of known models.

/// The tokens of a request and its turn together, by the beginning of the model's name. An entry precedes those that it begins with. From
/// <https://platform.openai.com/docs/models>, <https://docs.claude.com/en/docs/about-claude/models/overview> and
/// <https://ai.google.dev/gemini-api/docs/models>.
const SIZES: [(&str, u64); 13] = [
    ("claude-", 200_000),
    ("gemini-", 1_048_576),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-5-chat", 128_000),
    ("gpt-5.1-chat", 128_000),
    // The limit of the input alone.
    ("gpt-5", 272_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
];

/// Returns the tokens of a model's context. Returns `None` if they are unknown. Gateways put a vendor before the name, such as `openai/`
/// or `eu.anthropic.`.
pub(crate) fn context_tokens(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.find("claude-").map_or(name, |at| &name[at..]);
    SIZES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_model_has_its_own_size() {
        for (model, tokens) in [
            ("claude-sonnet-4-5", Some(200_000)),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", Some(200_000)),
            ("openai/gpt-4o-mini", Some(128_000)),
            ("gpt-5.1", Some(272_000)),
            ("gpt-5-chat-latest", Some(128_000)),
            ("o1-mini-2024-09-12", Some(128_000)),
            ("o1", Some(200_000)),
            ("gemini-2.5-flash", Some(1_048_576)),
            ("qwen3", None),
        ] {
            assert_eq!(context_tokens(model), tokens, "{model}");
        }
    }
}
