//! The hunks of a unified diff, as the protocol has them.

use std::path::Path;

use serde_json::{Value, json};

/// Returns one diff with the old and the new text for each hunk of a unified diff about one file. Returns `None` if it is not such a
/// diff, or is cut.
pub(crate) fn hunks(text: &str, path: &Path) -> Option<Vec<Value>> {
    let mut hunks: Vec<(String, String)> = Vec::new();
    let mut files = 0;
    let mut is_new = false;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let is_header =
            line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if is_header {
            is_new = line.trim_end() == "--- /dev/null";
            files += 1;
            lines.next();
            continue;
        }
        if line.starts_with("@@ ") {
            hunks.push(Default::default());
            continue;
        }
        let (sign, rest) = line.split_at_checked(1)?;
        match (sign, hunks.last_mut()) {
            ("+", Some((_, new))) => new.push_str(rest),
            ("-", Some((old, _))) => old.push_str(rest),
            (" ", Some((old, new))) => {
                old.push_str(rest);
                new.push_str(rest);
            }
            ("\\", Some(_)) => {}
            _ => return None,
        }
    }
    if files > 1 || hunks.is_empty() {
        return None;
    }
    let hunk = |(old, new): (String, String)| {
        let mut diff = json!({"type": "diff", "path": path, "newText": new});
        if !is_new {
            diff["oldText"] = old.into();
        }
        diff
    };
    Some(hunks.into_iter().map(hunk).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hunk_has_its_old_and_its_new_text() {
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n d\n+--- e\n";
        let hunks = hunks(text, Path::new("/w/x")).unwrap();
        let first =
            json!({"type": "diff", "path": "/w/x", "oldText": "a\nb\n", "newText": "a\nc\n"});
        let second =
            json!({"type": "diff", "path": "/w/x", "oldText": "d\n", "newText": "d\n--- e\n"});
        assert_eq!(hunks, [first, second]);
    }

    #[test]
    fn a_new_file_has_no_old_text_and_a_cut_diff_none_at_all() {
        let text = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
        let new = hunks(text, Path::new("/w/x")).unwrap();
        assert_eq!(
            new,
            [json!({"type": "diff", "path": "/w/x", "newText": "a\n"})]
        );
        let cut = format!("{text}[… 9 more bytes are not shown …]\n");
        assert_eq!(hunks(&cut, Path::new("/w/x")), None);
        assert_eq!(hunks("1 file", Path::new("/w/x")), None);
    }
}
