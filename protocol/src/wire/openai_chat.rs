//! OpenAI's chat completions.

/// Returns one element of `tools`. The arguments are JSON texts.
pub(super) fn definition(name: &str, description: &str, parameters: &str) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":{parameters}}}}}"#
    )
}
