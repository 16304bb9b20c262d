//! Documented parameters of all kinds.
#![forbid(unsafe_code)]
#![deny(missing_docs, unused, warnings)]

use tools::{Host, ToolContext, tool};

/// Counts the words of a text.
#[tool(pure)]
pub fn count_words(
    /// The text.
    mut text: String,
    /// Counts only words that are at least this long.
    ///
    /// Zero counts all of them.
    #[serde(default)]
    #[schemars(range(max = 100))]
    shortest: usize,
    /// Words that are left out.
    except: Option<Vec<String>>,
) -> usize {
    text.push(' ');
    let except = except.unwrap_or_default();
    text.split_whitespace()
        .filter(|word| word.len() >= shortest && !except.iter().any(|other| other == word))
        .count()
}

/// Says what kind of thing this is.
#[tool(pure)]
pub async fn describe(
    /// The kind.
    r#type: String,
    cx: &ToolContext,
) -> String {
    format!("{} {}", r#type, cx.depth())
}

/// Does nothing.
#[tool(pure)]
fn r#yield(_: ToolContext) {}

#[test]
fn parameters_of_all_kinds() {
    assert_eq!(count_words("a bb".to_owned(), 2, None), 1);
    r#yield(Host::new().into());
    drop(describe("x".to_owned(), &Host::new()));
    let mut catalog = tools::Catalog::new();
    catalog
        .submit(&[&COUNT_WORDS_TOOL, &DESCRIBE_TOOL, &YIELD_TOOL])
        .unwrap();
    let names: Vec<_> = catalog
        .list()
        .iter()
        .map(|entry| entry.name().to_string())
        .collect();
    assert_eq!(names, ["count_words", "describe", "yield"]);
}
