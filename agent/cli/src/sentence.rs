//! The first sentence of a description.

/// Returns the text up to the first full stop before a space, or up to the first empty line, on one line.
pub(crate) fn first(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.find(". ") {
        Some(end) => line[..=end].to_owned(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_a_full_stop_or_paragraph() {
        assert_eq!(
            first("Reads a file.\nMore of it. And more."),
            "Reads a file."
        );
        assert_eq!(
            first("Reads v1.2 files\nof text\n\nMore."),
            "Reads v1.2 files of text"
        );
        assert_eq!(first(""), "");
    }
}
