//! The rule for tool names, identical to that of `protocol::ToolName`.

const RULE: &str = "use 1 to 512 of A-Z a-z 0-9 _ . : / % -";

/// Returns the error in a tool name. Returns `None` if the name is valid.
pub(crate) fn error(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some(format!("a tool name cannot be empty; {RULE}"));
    }
    if let Some(character) = name.chars().find(|&c| !is_allowed(c)) {
        return Some(format!("the tool name {name:?} has {character:?}; {RULE}"));
    }
    (name.len() > 512).then(|| format!("this tool name has {} characters; {RULE}", name.len()))
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '/' | '%' | '-')
}
