//! [`Table`]: the rows of a table.

use pulldown_cmark::Alignment;

use super::wrap::{Spans, painted};
use crate::fit;
use crate::notice::FAINT;

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
        let widths = self.widths(count, avail);
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths));
            if index == 0 {
                let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(painted(FAINT, &rules.join("─┼─")));
            }
        }
        lines
    }

    fn row(&self, row: &[Spans], widths: &[usize]) -> Vec<String> {
        let cells = row.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| cell.wrap(*width, true)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let line = |at: usize| {
            let parts = widths.iter().enumerate().map(|(column, width)| {
                let text = cells.get(column).and_then(|lines| lines.get(at));
                let text = text.map_or("", |text| text);
                let free = width.saturating_sub(fit::columns(text));
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                format!("{:before$}{text}{:after$}", "", "", after = free - before)
            });
            let parts: Vec<_> = parts.collect();
            parts.join(&painted(FAINT, " │ ")).trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    /// Returns the width of each column. The widest ones give way until all fit.
    fn widths(&self, count: usize, avail: usize) -> Vec<usize> {
        let mut widths = vec![1; count];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                let text = cell.text();
                let longest = text.lines().map(fit::columns).max().unwrap_or(0);
                *width = longest.max(*width).min(avail);
            }
        }
        while widths.iter().sum::<usize>() > avail {
            let widest = widths.iter_mut().max();
            widest.into_iter().for_each(|width| *width -= 1);
        }
        widths
    }
}
