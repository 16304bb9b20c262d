//! The output limits of Anthropic's models, whose requests have to state one.

use rig_core::providers::anthropic::wire::ANTHROPIC;

/// The limits of models that rig does not know, by the beginning of their names, from
/// <https://docs.claude.com/en/docs/about-claude/models/overview> and its page on deprecated models.
const LIMITS: [(&str, u64); 6] = [
    ("claude-3-haiku", 4096),
    ("claude-3-sonnet", 4096),
    ("claude-3-opus", 4096),
    ("claude-3-5-haiku", 8192),
    ("claude-3-5-sonnet", 8192),
    ("claude-3-7-sonnet", 64_000),
];

/// The limit of unknown models. Services that proxy other models refuse a higher one.
const UNKNOWN: u64 = 8192;

/// Returns the output limit of a model. Gateways put a vendor before the name, such as `anthropic/` or `eu.anthropic.`.
pub(super) fn output_limit(model: &str) -> u64 {
    let name = model.find("claude-").map_or(model, |at| &model[at..]);
    let listed = LIMITS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, limit)| *limit);
    listed.or_else(|| ANTHROPIC.default_max_tokens(name)).unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_its_own_limit() {
        for (model, limit) in [
            ("claude-sonnet-4-5", 64_000),
            ("claude-sonnet-4-5-20250929", 64_000),
            ("anthropic/claude-sonnet-4-5", 64_000),
            ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 64_000),
            ("claude-haiku-4-5", 64_000),
            ("claude-opus-4-1-20250805", 32_000),
            ("claude-3-haiku-20240307", 4096),
            ("claude-3-5-haiku-latest", 8192),
            ("somebody-elses-model", 8192),
        ] {
            assert_eq!(output_limit(model), limit, "{model}");
        }
    }
}
