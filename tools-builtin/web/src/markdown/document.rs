//! [`Document`]: the blocks of a document.

use super::Notation;

/// The maximum nesting of lists and quotes. Deeper ones are written as part of the one around them.
const MAX_CONTAINERS: usize = 12;

/// The largest number of a list item in Markdown.
const MAX_NUMBER: u32 = 999_999_999;

/// The blocks of a document, in lists and quotes.
#[derive(Debug, Default)]
pub(crate) struct Document {
    out: String,
    limit: usize,
    is_full: bool,
    containers: Vec<Container>,
    lists: Vec<List>,
    gap: Gap,
    /// The list that ended directly before.
    previous: Option<List>,
    notation: Notation,
}

/// A quote or an item of a list.
#[derive(Debug)]
struct Container {
    first: String,
    rest: &'static str,
    width: usize,
    is_item: bool,
    is_started: bool,
}

#[derive(Debug)]
struct List {
    /// The number of the next item, or `None` in a list without numbers.
    number: Option<u32>,
    /// True if the marker is the second of the two, because a list ended directly before.
    is_other: bool,
    depth: usize,
    has_items: bool,
    /// The width of the last item's marker.
    width: usize,
    /// True if the list stands in another one without an item, and continues the item before.
    is_bare: bool,
}

/// The separation from the block before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gap {
    #[default]
    None,
    Line,
    Blank,
}

impl Document {
    /// Creates an empty document of at most `limit` bytes.
    pub(crate) fn new(notation: Notation, limit: usize) -> Self {
        Self {
            limit,
            notation,
            ..Self::default()
        }
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns true if a block did not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.out
    }

    /// Appends a block, which may have several lines.
    pub(crate) fn push_block(&mut self, block: &str) {
        let rest = self.rest();
        let blank = rest.trim_end_matches(' ');
        for (index, line) in block.split('\n').enumerate() {
            let prefix = if line.is_empty() { blank } else { &rest };
            if self.is_full || self.out.len() + prefix.len() + line.len() > self.limit {
                self.is_full = true;
                return;
            }
            if index == 0 {
                self.write_gap();
                self.write_prefix();
            } else {
                self.out.push('\n');
                self.out.push_str(prefix);
            }
            self.out.push_str(line);
            if index == 0 && line.is_empty() {
                self.trim_line();
            }
        }
        self.gap = Gap::Blank;
        self.previous = None;
        let depth = self.containers.len();
        if let Some(list) = self.lists.last_mut().filter(|list| list.depth == depth) {
            // Not an item, so the next item does not follow another one.
            list.has_items = false;
        }
    }

    /// Appends a heading.
    pub(crate) fn push_heading(&mut self, level: u8, text: &str) {
        if self.notation == Notation::Plain {
            return self.push_block(text);
        }
        let mut heading = "#".repeat(level.into());
        heading.push(' ');
        let body = text.trim_end_matches('#');
        heading.push_str(body);
        // Hashes at the end would be dropped.
        if body.len() < text.len() {
            if body.is_empty() || body.ends_with(' ') {
                heading.push('\\');
            }
            heading.push_str(&text[body.len()..]);
        }
        self.push_block(&heading);
    }

    /// Appends a thematic break.
    pub(crate) fn push_rule(&mut self) {
        // Dashes after the marker of an item would make the marker a part of the break.
        let last = self.containers.last();
        let after_marker = last.is_some_and(|container| !container.is_started);
        self.push_block(if after_marker { "___" } else { "---" });
    }

    /// Begins a quote. Returns false if the nesting is too deep.
    pub(crate) fn begin_quote(&mut self) -> bool {
        let mark = match self.notation {
            Notation::Markdown => "> ",
            Notation::Plain => "",
        };
        self.begin_container(Container {
            first: mark.to_owned(),
            rest: mark,
            width: 0,
            is_item: false,
            is_started: false,
        })
    }

    /// Begins a list. With a number it is ordered and begins there.
    pub(crate) fn begin_list(&mut self, number: Option<u32>) {
        let depth = self.containers.len();
        let list = self.lists.last();
        let list = list.filter(|list| list.depth == depth && list.has_items);
        let marker = list.map(|list| " ".repeat(list.width));
        let is_bare = marker.is_some_and(|marker| {
            self.begin_container(Container {
                is_started: true,
                ..Container::item(marker)
            })
        });
        let depth = self.containers.len();
        // Lists side by side with the same marker would be one.
        let is_other = self
            .previous
            .as_ref()
            .filter(|list| list.depth == depth && list.number.is_some() == number.is_some())
            .is_some_and(|previous| !previous.is_other);
        self.lists.push(List {
            number,
            is_other,
            depth,
            has_items: false,
            width: 0,
            is_bare,
        });
    }

    /// Ends the innermost list.
    pub(crate) fn end_list(&mut self) {
        if let Some(mut list) = self.lists.pop() {
            if list.is_bare {
                self.containers.pop();
            }
            list.depth = self.containers.len();
            self.previous = Some(list);
        }
    }

    /// Begins an item of the innermost list. Returns false if the nesting is too deep.
    pub(crate) fn begin_item(&mut self, value: Option<u32>) -> bool {
        let last = self.containers.last();
        let in_item = last.is_some_and(|container| container.is_item && container.is_started);
        let depth = self.containers.len();
        let Some(list) = self.lists.last_mut().filter(|list| list.depth == depth) else {
            return self.begin_container(Container::item("- ".to_owned()));
        };
        let number = list
            .number
            .map(|number| value.unwrap_or(number).min(MAX_NUMBER));
        // CommonMark: a list that interrupts a paragraph has no numbers, or begins with 1.
        let follows_text = in_item && number.is_none_or(|number| number == 1);
        if self.gap == Gap::Blank && (list.has_items || follows_text) {
            self.gap = Gap::Line;
        }
        list.has_items = true;
        let marker = match (number, list.is_other) {
            (None, false) => "- ".to_owned(),
            (None, true) => "* ".to_owned(),
            (Some(number), false) => format!("{number}. "),
            (Some(number), true) => format!("{number}) "),
        };
        list.width = marker.len();
        list.number = number.map(|number| number.saturating_add(1));
        self.begin_container(Container::item(marker))
    }

    /// Ends the innermost quote or item.
    pub(crate) fn end_container(&mut self) {
        self.containers.pop();
    }

    fn begin_container(&mut self, container: Container) -> bool {
        let fits = self.containers.len() < MAX_CONTAINERS;
        if fits {
            self.containers.push(container);
        }
        fits
    }

    fn write_gap(&mut self) {
        if self.out.is_empty() {
            return;
        }
        self.out.push('\n');
        if self.gap == Gap::Blank {
            let containers = self.containers.iter();
            for container in containers.take_while(|container| container.is_started) {
                container.write_rest(&mut self.out);
            }
            self.trim_line();
            self.out.push('\n');
        }
    }

    /// Returns the beginning of a line after the first one of a block.
    fn rest(&self) -> String {
        let mut rest = String::new();
        for container in &self.containers {
            container.write_rest(&mut rest);
        }
        rest
    }

    fn write_prefix(&mut self) {
        for container in &mut self.containers {
            if container.is_started {
                container.write_rest(&mut self.out);
            } else {
                self.out.push_str(&container.first);
                container.is_started = true;
            }
        }
    }

    fn trim_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
    }
}

impl Container {
    fn item(marker: String) -> Self {
        Self {
            width: marker.len(),
            first: marker,
            rest: "",
            is_item: true,
            is_started: false,
        }
    }

    fn write_rest(&self, out: &mut String) {
        out.push_str(self.rest);
        out.extend(std::iter::repeat_n(' ', self.width));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::new(Notation::Markdown, 1000)
    }

    #[test]
    fn items_are_indented_by_their_markers() {
        let mut document = document();
        document.push_block("text");
        document.begin_list(Some(9));
        for _ in 0..2 {
            document.begin_item(None);
            document.push_block("a\nb");
            document.begin_list(None);
            document.begin_item(None);
            document.begin_quote();
            document.push_block("c");
            document.push_block("d");
            document.end_container();
            document.end_container();
            document.end_list();
            document.end_container();
        }
        document.end_list();
        let expected = "text\n\n9. a\n   b\n   - > c\n     >\n     > d\n10. a\n    b\n    - > c\n      >\n      > d";
        assert_eq!(document.into_text(), expected);
    }

    #[test]
    fn lists_side_by_side_stay_two() {
        let mut document = document();
        for text in ["a", "b", "c"] {
            document.begin_list(None);
            document.begin_item(None);
            document.push_block(text);
            document.end_container();
            document.end_list();
        }
        assert_eq!(document.into_text(), "- a\n\n* b\n\n- c");
    }

    #[test]
    fn a_heading_keeps_its_hashes() {
        let mut document = document();
        document.push_heading(2, "C#");
        document.push_heading(2, "a ##");
        assert_eq!(document.into_text(), "## C#\n\n## a \\##");
    }

    #[test]
    fn a_full_document_takes_no_more() {
        let mut document = Document::new(Notation::Markdown, 10);
        document.push_block("12345\n1234567");
        assert!(document.is_full() && document.len() <= 10);
    }
}
