//! [`CodeSpan`]: the code span that is being read.

use super::escape::is_space;

/// The code span that is being read, and the end of the one before it.
#[derive(Debug, Default)]
pub(super) struct CodeSpan {
    code: String,
    depth: usize,
    /// The end of the text, if it is a code span with one backtick.
    end: Option<usize>,
}

impl CodeSpan {
    pub(super) fn open(&mut self) {
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    pub(super) fn len(&self) -> usize {
        self.code.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// Appends text. Returns true if there is white space before the code.
    pub(super) fn push(&mut self, text: &str) -> bool {
        let mut has_space = false;
        for c in text.chars() {
            if !is_space(c) {
                self.code.push(c);
            } else if self.code.is_empty() {
                has_space = true;
            } else if !self.code.ends_with(' ') {
                self.code.push(' ');
            }
        }
        has_space
    }

    /// Takes the code, and returns true with it if white space follows. Returns `None` if there is no code.
    pub(super) fn take(&mut self) -> Option<(String, bool)> {
        let mut code = Some(std::mem::take(&mut self.code)).filter(|code| !code.is_empty())?;
        let has_space = code.ends_with(' ');
        code.truncate(code.trim_end().len());
        Some((code, has_space))
    }

    /// Writes a code span after a text.
    pub(super) fn write(&mut self, code: &str, out: &mut String) {
        let is_simple = !code.contains('`');
        let is_adjacent = self.end == Some(out.len());
        // Two spans side by side would not be read as two.
        let joins = is_adjacent && is_simple;
        if joins {
            out.pop();
        } else if is_adjacent {
            out.push(' ');
        }
        let span = code_span(code);
        out.push_str(if joins { &span[1..] } else { &span });
        self.end = is_simple.then_some(out.len());
    }

    /// Parts the next span from those of the block before.
    pub(super) fn end_block(&mut self) {
        self.end = None;
    }
}

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
pub(crate) fn fence(code: &str, language: Option<&str>) -> String {
    let fence = "`".repeat((longest_run(code) + 1).max(3));
    let end = if code.is_empty() { "" } else { "\n" };
    let language = language.unwrap_or_default();
    format!("{fence}{language}\n{code}{end}{fence}")
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
        assert_eq!(fence("a", Some("rust")), "```rust\na\n```");
        assert_eq!(fence("````", None), "`````\n````\n`````");
    }
}
