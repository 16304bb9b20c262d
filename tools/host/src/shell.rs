//! Shell quoting.

use std::path::Path;

use tools::protocol::Word;

/// Returns the text as one word of a shell, quoted only if necessary, as clauses quote words.
pub fn quote(text: &str) -> String {
    Word::Known(text.to_owned()).to_string()
}

/// Returns a flag with a path, as words of a shell.
pub fn path_flag(flag: &str, path: &Path) -> String {
    format!("{flag} {}", quote(&path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quote("fs:write:src/x"), "fs:write:src/x");
        assert_eq!(quote("fs:write:a b"), "'fs:write:a b'");
        assert_eq!(quote("fs:write:it's"), r"'fs:write:it'\''s'");
        assert_eq!(quote(r"fs:read:\*"), r"'fs:read:\*'");
        assert_eq!(quote(""), "''");
    }
}
