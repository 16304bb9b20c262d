//! [`Table`]: text in aligned columns.

use anstyle::Style;

use crate::notice::styled;

/// The minimum width of the last column, in characters.
const MIN_LAST: usize = 24;

/// Rows of cells, aligned by character count. The last column takes the remaining width.
pub(crate) struct Table<const N: usize> {
    styles: [Style; N],
    indent: usize,
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// Returns an empty table with one style per column, indented by this number of spaces.
    pub(crate) fn new(styles: [Style; N], indent: usize) -> Self {
        Self { styles, indent, rows: Vec::new() }
    }

    /// Adds a row. Cells must be single lines of visible characters.
    pub(crate) fn push(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    /// Renders one line per row, and cuts the last cell to the width if given.
    pub(crate) fn cut(&self, width: Option<usize>) -> String {
        self.rendered(width, |text, room| vec![cut(text, room)])
    }

    /// Renders the rows, and wraps the last cell to the width if given.
    pub(crate) fn wrapped(&self, width: Option<usize>) -> String {
        self.rendered(width, wrapped)
    }

    fn rendered(&self, width: Option<usize>, fit: impl Fn(&str, usize) -> Vec<String>) -> String {
        let widths: Vec<usize> = (0..N.saturating_sub(1))
            .map(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        let left = self.indent + widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>();
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(left).max(MIN_LAST));
        let mut text = String::new();
        for row in &self.rows {
            let Some((last, cells)) = row.split_last() else { continue };
            text += &" ".repeat(self.indent);
            for ((cell, width), style) in
                cells.iter().zip(&widths).zip(self.styles).filter(|((_, width), _)| **width > 0)
            {
                text += &styled(style, format_args!("{cell:width$}"));
                text += "  ";
            }
            for (index, line) in fit(last, room).iter().enumerate() {
                if index > 0 {
                    text += &" ".repeat(left);
                }
                text += &styled(self.styles[N - 1], line);
                text.push('\n');
            }
        }
        text
    }
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Wraps the text at words to lines of at most `room` characters; a longer word gets its own line. Returns at least one line,
/// which may be empty.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += length;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 3]]) -> Table<3> {
        let mut table = Table::new([Style::new(); 3], 1);
        rows.iter().for_each(|row| table.push(row.map(str::to_owned)));
        table
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        assert_eq!(table(&[["a", "b", "c"], ["größe", "", "d"]]).cut(None), " a      b  c\n größe     d\n");
        assert_eq!(table(&[["a", "", "c"]]).cut(None), " a  c\n");
    }

    #[test]
    fn the_last_column_fits_the_width() {
        let words = "one two three four five six seven";
        assert_eq!(table(&[["a", "b", words]]).cut(Some(31)), " a  b  one two three four five…\n");
        assert_eq!(table(&[["a", "b", words]]).wrapped(Some(31)), " a  b  one two three four five\n       six seven\n");
    }

    #[test]
    fn a_long_word_is_not_broken() {
        assert_eq!(wrapped(&format!("a {} b", "x".repeat(40)), 24), ["a", &"x".repeat(40), "b"]);
        assert_eq!(wrapped("", 24), [""]);
    }
}
