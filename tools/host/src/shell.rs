//! Shell quoting.

use std::borrow::Cow;

/// Returns the text as one POSIX shell word, quoted only if necessary.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |b: u8| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'%' | b'+' | b',' | b'='
            )
    };
    if !text.is_empty() && text.bytes().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quoted("fs:write:src/x"), "fs:write:src/x");
        assert_eq!(quoted("fs:write:a b"), "'fs:write:a b'");
        assert_eq!(quoted("fs:write:it's"), r"'fs:write:it'\''s'");
        assert_eq!(quoted(r"fs:read:\*"), r"'fs:read:\*'");
        assert_eq!(quoted(""), "''");
    }
}
