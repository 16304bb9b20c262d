//! Anthropic's messages.

/// Returns one element of `tools`. The arguments are JSON texts.
pub(super) fn definition(name: &str, description: &str, parameters: &str) -> String {
    format!(r#"{{"name":{name},"description":{description},"input_schema":{parameters}}}"#)
}
