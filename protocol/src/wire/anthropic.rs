//! Tool definitions of Anthropic's Messages API.

/// Returns one element of `tools`. All parameters are JSON texts.
pub(super) fn definition(name: &str, description: &str, parameters: &str) -> String {
    format!(r#"{{"name":{name},"description":{description},"input_schema":{parameters}}}"#)
}
