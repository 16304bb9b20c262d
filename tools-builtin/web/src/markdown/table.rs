//! [`Table`]: a table, row by row.

use super::Notation;

/// The maximum number of columns. The cells after it are joined into the last one.
const MAX_COLUMNS: usize = 64;

/// The maximum number of rows that a cell may span.
const MAX_SPAN: u32 = 1000;

/// The bytes that are counted for each row beside its text.
const ROW: usize = size_of::<Row>();

/// A table whose cells are being read.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    row: Option<Row>,
    cell: Option<String>,
    /// For each column the number of following rows that a cell of an earlier row reaches into.
    spans: Vec<u32>,
    colspan: usize,
    rowspan: u32,
    has_header: bool,
    size: usize,
}

/// The cells of a row, separated by line feeds, which no cell contains.
#[derive(Debug)]
struct Row {
    cells: String,
    count: usize,
    /// True in `<thead>`.
    is_head: bool,
    /// True if there are only header cells.
    is_header: bool,
}

impl Table {
    /// Returns the memory in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
            + self.row.as_ref().map_or(0, |row| row.cells.len())
            + self.cell.as_ref().map_or(0, String::len)
    }

    /// Returns true if a cell is open.
    pub(crate) fn is_in_cell(&self) -> bool {
        self.cell.is_some()
    }

    /// Returns true if the table has a header, so that it has data and is no layout.
    pub(crate) fn has_header(&self) -> bool {
        self.has_header
    }

    /// Begins a row.
    pub(crate) fn begin_row(&mut self, is_head: bool) {
        self.end_row();
        self.has_header |= is_head;
        self.row = Some(Row {
            cells: String::new(),
            count: 0,
            is_head,
            is_header: true,
        });
    }

    /// Begins a cell.
    pub(crate) fn begin_cell(&mut self, is_header: bool, colspan: u32, rowspan: u32) {
        self.end_cell();
        if self.row.is_none() {
            self.begin_row(false);
        }
        self.skip_spans();
        self.has_header |= is_header;
        if let Some(row) = &mut self.row {
            row.is_header &= is_header;
        }
        self.cell = Some(String::new());
        self.colspan = (colspan.max(1) as usize).min(MAX_COLUMNS);
        self.rowspan = rowspan.clamp(1, MAX_SPAN);
    }

    /// Appends a block to the open cell.
    pub(crate) fn push_block(&mut self, block: &str, notation: Notation) {
        let Some(cell) = &mut self.cell else { return };
        if !cell.is_empty() {
            cell.push_str(notation.pick("<br>", " "));
        }
        cell.extend(block.chars().map(|c| if c == '\n' { ' ' } else { c }));
    }

    /// Ends the open cell.
    pub(crate) fn end_cell(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        let Some(row) = &mut self.row else { return };
        for index in 0..self.colspan {
            let column = row.count;
            row.push(if index == 0 { &cell } else { "" });
            if self.rowspan > 1 && column < MAX_COLUMNS {
                self.spans.resize(self.spans.len().max(column + 1), 0);
                self.spans[column] = self.rowspan - 1;
            }
        }
    }

    /// Ends the open row.
    pub(crate) fn end_row(&mut self) {
        self.end_cell();
        self.skip_spans();
        let Some(row) = self.row.take() else { return };
        for span in self.spans.iter_mut().skip(row.count) {
            *span = span.saturating_sub(1);
        }
        if row.cells.bytes().any(|byte| byte != b'\n') {
            self.size += row.cells.len() + ROW;
            self.rows.push(row);
        }
    }

    /// Returns the table, or its cells as blocks if it has only one column.
    pub(crate) fn into_blocks(mut self, notation: Notation) -> Vec<String> {
        self.end_row();
        let columns = self.rows.iter().map(|row| row.count).max().unwrap_or(0);
        if columns < 2 {
            return self.into_cells();
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 2);
        let mut rows = self.rows.iter().peekable();
        if notation == Notation::Markdown {
            // A table of GitHub needs a header, so one without gets empty cells.
            let header = rows.next_if(|row| row.is_head || row.is_header);
            let mut line = header.map_or_else(|| "|".to_owned(), Row::line);
            for _ in header.map_or(0, |row| row.count)..columns {
                line.push_str("  |");
            }
            lines.push(line);
            lines.push(format!("|{}", " --- |".repeat(columns)));
        }
        lines.extend(rows.map(|row| match notation {
            Notation::Markdown => row.line(),
            Notation::Plain => row.cells.replace('\n', "\t"),
        }));
        vec![lines.join("\n")]
    }

    /// Returns the cells that have text, for a table that is only layout.
    pub(crate) fn into_cells(mut self) -> Vec<String> {
        self.end_row();
        let cells = self.rows.iter().flat_map(|row| row.cells.split('\n'));
        cells
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Leaves the columns empty that cells of earlier rows reach into.
    fn skip_spans(&mut self) {
        let Some(row) = &mut self.row else { return };
        while let Some(span) = self.spans.get_mut(row.count).filter(|span| **span > 0) {
            *span -= 1;
            row.push("");
        }
    }
}

impl Row {
    fn push(&mut self, cell: &str) {
        if self.count < MAX_COLUMNS {
            if self.count > 0 {
                self.cells.push('\n');
            }
            self.count += 1;
        } else if !cell.is_empty() {
            self.cells.push(' ');
        }
        self.cells.push_str(cell);
    }

    fn line(&self) -> String {
        let mut line = String::with_capacity(self.cells.len() + 3 * self.count + 2);
        for cell in self.cells.split('\n') {
            line.push_str("| ");
            line.push_str(cell);
            line.push(' ');
        }
        line.push('|');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[(&str, bool, u32, u32)]]) -> String {
        let mut table = Table::default();
        for row in rows {
            table.begin_row(false);
            for (text, is_header, colspan, rowspan) in *row {
                table.begin_cell(*is_header, *colspan, *rowspan);
                table.push_block(text, Notation::Markdown);
            }
        }
        table.into_blocks(Notation::Markdown).join("\n\n")
    }

    #[test]
    fn spans_keep_the_columns() {
        let markdown = table(&[
            &[("a", true, 1, 1), ("b", true, 2, 1)],
            &[("c", false, 1, 2), ("d", false, 1, 1), ("e", false, 1, 1)],
            &[("f", false, 1, 1), ("g", false, 1, 1)],
            &[("h", false, 1, 1)],
        ]);
        let expected = "| a | b |  |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |\n| h |";
        assert_eq!(markdown, expected);
    }

    #[test]
    fn without_a_header_its_cells_are_empty() {
        let rows: &[&[_]] = &[&[("a", true, 1, 1), ("b", false, 1, 1)]];
        assert_eq!(table(rows), "|  |  |\n| --- | --- |\n| a | b |");
    }

    #[test]
    fn cells_after_the_last_column_are_kept() {
        let row = vec![("x", true, 1, 1); MAX_COLUMNS + 2];
        let markdown = table(&[&row]);
        assert!(
            markdown.starts_with("| x | x |") && markdown.contains("| x x x |\n"),
            "{markdown}"
        );
    }

    #[test]
    fn one_column_is_no_table() {
        assert_eq!(
            table(&[&[("a", true, 1, 1)], &[("b", false, 1, 1)]]),
            "a\n\nb"
        );
    }
}
