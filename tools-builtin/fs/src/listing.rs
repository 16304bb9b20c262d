//! [`Listing`]: the result of `fs.list`, and its text.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use tools::protocol::is_invisible;
use tools::{Content, Json, ToolError, ToolErrorKind, ToolResult};

use crate::kind::Kind;

/// The result of `fs.list`.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    /// The path of the directory, with links resolved.
    pub(crate) path: String,
    /// The entries, sorted by the bytes of their names.
    pub(crate) entries: Vec<DirEntry>,
    /// The number of entries after these.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) more: u64,
    /// The `after` argument that continues the listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DirEntry {
    /// The file name.
    pub name: String,
    /// The kind. Links are not followed.
    pub kind: Kind,
    /// The size of a regular file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// True if the name is not UTF-8. `name` then has replacement characters and cannot be used to open the entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub name_is_not_utf8: bool,
}

impl Listing {
    /// Returns the listing as a short text for the model and as a structured value for programs.
    pub(crate) fn to_result(&self) -> Result<ToolResult, ToolError> {
        let structured = Json::from_serialize(self)
            .map_err(|error| ToolErrorKind::internal(format!("a listing is not JSON: {error}")))?;
        let text = Some(self.to_string()).filter(|text| !text.is_empty());
        let unusable = self.entries.iter().filter(|entry| entry.name_is_not_utf8);
        let unusable = unusable.count();
        let notes = [
            self.entries.is_empty().then(|| "no entries".to_owned()),
            (unusable > 0)
                .then(|| format!("names that are not UTF-8, shown with \u{FFFD} and of no use in a path: {unusable}")),
            self.note.clone(),
        ];
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        let note = (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")));
        let content = text.into_iter().chain(note).map(Content::text).collect();
        Ok(ToolResult {
            content,
            structured: Some(structured),
            ..ToolResult::default()
        })
    }
}

/// Writes one entry a line: `name/` for a directory, `size name` for a file, and `kind name` for another entry.
impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            let name = quote_name(&entry.name);
            match (entry.kind, entry.size) {
                (Kind::Directory, _) => writeln!(f, "{name}/")?,
                (_, Some(size)) => writeln!(f, "{size} {name}")?,
                (kind, None) => writeln!(f, "{} {name}", kind.word())?,
            }
        }
        Ok(())
    }
}

/// Returns a name on one line: quoted and escaped if it has control or invisible characters or begins with a quote.
fn quote_name(name: &str) -> Cow<'_, str> {
    let is_plain =
        !name.starts_with('"') && !name.contains(|c: char| c.is_control() || is_invisible(c));
    if is_plain {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: Kind, size: Option<u64>) -> DirEntry {
        DirEntry {
            name: name.to_owned(),
            kind,
            size,
            name_is_not_utf8: false,
        }
    }

    #[test]
    fn an_entry_is_one_line() {
        let entries = vec![
            entry("12 a", Kind::File, Some(0)),
            entry("a\nb", Kind::File, Some(1)),
            entry("\"quoted\"", Kind::File, Some(2)),
            entry("zero\u{200B}width", Kind::Directory, None),
            entry("it's", Kind::Directory, None),
            entry("to it", Kind::Link, None),
            entry("gone", Kind::Unknown, None),
        ];
        let listing = Listing {
            path: ".".to_owned(),
            entries,
            more: 0,
            note: None,
        };
        let expected = [
            "0 12 a",
            r#"1 "a\nb""#,
            r#"2 "\"quoted\"""#,
            r#""zero\u{200b}width"/"#,
            "it's/",
            "link to it",
            "unknown gone",
        ];
        assert_eq!(listing.to_string().lines().collect::<Vec<_>>(), expected);
    }
}
