//! Tool definitions of OpenAI's Chat Completions API.

/// Returns one element of `tools`. All parameters are JSON texts.
pub(super) fn definition(name: &str, description: &str, parameters: &str) -> String {
    format!(
        r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":{parameters}}}}}"#
    )
}
