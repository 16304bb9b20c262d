//! Code spans and fenced code blocks.

/// Returns a code span. Backticks in the code are allowed.
pub(crate) fn code_span(code: &str) -> String {
    let fence = "`".repeat(longest_run(code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// Returns a fenced code block, whose fence is longer than any in the code.
pub(crate) fn fenced(code: &str, language: Option<&str>) -> String {
    let fence = "`".repeat((longest_run(code) + 1).max(3));
    let end = if code.is_empty() { "" } else { "\n" };
    format!(
        "{fence}{}\n{code}{end}{fence}",
        language.unwrap_or_default()
    )
}

/// Returns the length of the longest run of backticks.
fn longest_run(code: &str) -> usize {
    code.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_code() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("a``b"), "```a``b```");
        assert_eq!(code_span("`"), "`` ` ``");
        assert_eq!(fenced("a", Some("rust")), "```rust\na\n```");
        assert_eq!(fenced("````", None), "`````\n````\n`````");
    }
}
