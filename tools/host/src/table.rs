//! [`Table`]: text in aligned columns.

use anstyle::Style;

use crate::fit;
use crate::style::paint;

/// The minimum width of the last column. With less room, it moves below the other columns.
const MIN_LAST: usize = 24;

/// Rows of cells in aligned columns. The last column takes the remaining width.
#[derive(Clone, Debug)]
pub struct Table<const N: usize> {
    styles: [Style; N],
    indent: usize,
    /// The cells, and the style of the last one.
    rows: Vec<([String; N], Style)>,
}

impl<const N: usize> Table<N> {
    /// Returns an empty table with one style per column, indented by this number of spaces.
    pub fn new(styles: [Style; N], indent: usize) -> Self {
        Self {
            styles,
            indent,
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells must be single lines of visible characters.
    pub fn push(&mut self, row: [String; N]) {
        self.rows.push((row, self.styles[N - 1]));
    }

    /// Adds a line to the last column, in a style of its own.
    pub fn push_below(&mut self, style: Style, line: String) {
        let mut row = [const { String::new() }; N];
        row[N - 1] = line;
        self.rows.push((row, style));
    }

    /// Renders the rows, and wraps the last cell to the width.
    pub fn wrap(&self, width: usize) -> String {
        self.render_with(width, fit::wrap_text)
    }

    /// Renders the rows, and cuts the last cell to the width.
    pub fn cut(&self, width: usize) -> String {
        self.render_with(width, |last, room| vec![fit::cut(last, room)])
    }

    /// Renders the rows. `fitted` returns the lines of a last cell with at most this number of columns.
    fn render_with(&self, width: usize, fitted: impl Fn(&str, usize) -> Vec<String>) -> String {
        let widths = (0..N.saturating_sub(1)).map(|column| {
            let cells = self.rows.iter().map(|(row, _)| &row[column]);
            cells.map(|cell| fit::columns(cell)).max().unwrap_or(0)
        });
        let widths: Vec<usize> = widths.collect();
        let shown = widths.iter().filter(|width| **width > 0);
        let used = self.indent + shown.map(|width| width + 2).sum::<usize>();
        let is_below = width.saturating_sub(used) < MIN_LAST;
        let left = if is_below { self.indent + 2 } else { used };
        let room = width.saturating_sub(left).max(1);
        let mut text = String::new();
        for (row, last_style) in &self.rows {
            let Some((last, cells)) = row.split_last() else {
                continue;
            };
            let mut line = " ".repeat(self.indent);
            let cells = cells.iter().zip(&widths).zip(self.styles);
            for ((cell, width), style) in cells.filter(|((_, width), _)| **width > 0) {
                let padding = " ".repeat(width - fit::columns(cell));
                line += &paint(style, format_args!("{cell}{padding}"));
                line += "  ";
            }
            let mut lines = fitted(last, room).into_iter();
            if is_below {
                text += line.trim_end();
                text.push('\n');
            } else {
                text += &line;
                text += &paint(*last_style, lines.next().unwrap_or_default());
                text.push('\n');
            }
            for line in lines.filter(|line| !line.is_empty()) {
                text += &format!("{:left$}{}\n", "", paint(*last_style, line));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 3]]) -> Table<3> {
        let mut table = Table::new([Style::new(); 3], 1);
        rows.iter()
            .for_each(|row| table.push(row.map(str::to_owned)));
        table
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        assert_eq!(
            table(&[["a", "b", "c"], ["größe", "", "d"]]).wrap(80),
            " a      b  c\n größe     d\n"
        );
        assert_eq!(table(&[["a", "", "c"]]).wrap(80), " a  c\n");
    }

    #[test]
    fn the_last_column_fits_the_width() {
        let words = "one two three four five six seven";
        assert_eq!(
            table(&[["a", "b", words]]).wrap(31),
            " a  b  one two three four five\n       six seven\n"
        );
    }

    #[test]
    fn the_last_column_can_be_cut() {
        let words = "one two three four five six seven";
        assert_eq!(
            table(&[["a", "b", words], ["a", "b", "c"]]).cut(31),
            " a  b  one two three four five…\n a  b  c\n"
        );
    }

    #[test]
    fn without_room_the_last_column_moves_below() {
        let words = "one two three four five six seven";
        assert_eq!(
            table(&[["a", "b", words]]).wrap(28),
            " a  b\n   one two three four five\n   six seven\n"
        );
    }

    #[test]
    fn a_line_below_is_in_the_last_column() {
        let mut table = table(&[["a", "b", "c"]]);
        table.push_below(Style::new(), "d".to_owned());
        assert_eq!(table.wrap(80), " a  b  c\n       d\n");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(
            table(&[["你好", "b", "c"], ["abcd", "b", "c"]]).wrap(80),
            " 你好  b  c\n abcd  b  c\n"
        );
    }
}
