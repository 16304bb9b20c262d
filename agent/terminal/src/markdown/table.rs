//! [`Table`]: the rows of a table.

use pulldown_cmark::Alignment;

use super::wrap::{Spans, painted};
use host::fit;
use host::style::FAINT;

/// The columns between two cells: `" │ "`.
const GAP: usize = 3;
/// The minimum columns of a cell. Below it, rows are no table.
const MIN_CELL: usize = 4;

/// A table in progress.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<Spans>>,
}

impl Table {
    /// Returns the lines of the table. One that does not fit has its cells one below the other.
    pub(super) fn lines(&self, room: usize) -> Vec<String> {
        let count = self.alignments.len().max(1);
        let avail = room.saturating_sub(GAP * (count - 1));
        if avail < MIN_CELL * count {
            let cells = self.rows.iter().flatten();
            return cells.flat_map(|cell| cell.wrap(room, true)).collect();
        }
        let mut widths = vec![1; count];
        for (width, cell) in self.rows.iter().flat_map(|row| (0..count).zip(row)) {
            widths[width] = cell.columns().clamp(widths[width], avail);
        }
        // The widest ones give way until all fit.
        while widths.iter().sum::<usize>() > avail {
            widths
                .iter_mut()
                .max()
                .into_iter()
                .for_each(|width| *width -= 1);
        }
        let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut lines: Vec<_> = self.rows.iter().map(|row| self.row(row, &widths)).collect();
        lines.insert(1.min(lines.len()), vec![painted(FAINT, &rules.join("─┼─"))]);
        lines.concat()
    }

    fn row(&self, row: &[Spans], widths: &[usize]) -> Vec<String> {
        let cells = row.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| cell.wrap(*width, true)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let line = |at: usize| {
            let parts = widths.iter().zip(&self.alignments).enumerate();
            let parts = parts.map(|(column, (width, alignment))| {
                let text = cells.get(column).and_then(|lines| lines.get(at));
                let text = text.map_or("", |text| text);
                let free = width.saturating_sub(fit::columns(text));
                let before = match alignment {
                    Alignment::Right => free,
                    Alignment::Center => free / 2,
                    Alignment::Left | Alignment::None => 0,
                };
                format!("{:before$}{text}{:after$}", "", "", after = free - before)
            });
            let line = parts.collect::<Vec<_>>().join(&painted(FAINT, " │ "));
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}
