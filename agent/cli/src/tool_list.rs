//! The tools as a list for people.

use anstyle::Style;
use tools::Entry;

use crate::notice::{FAINT, STRONG};
use crate::sentence;
use crate::table::Table;
use crate::visible::visible;

/// Returns the name and the first sentence of each tool. A long list adds the effects and the source below it.
pub(crate) fn page<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    is_long: bool,
    width: usize,
) -> String {
    let mut table = Table::new([STRONG, Style::new()], 0);
    for entry in entries {
        let tool = entry.tool();
        let cell = |text: &str| visible(text).into_owned();
        table.push([
            tool.name.to_string(),
            cell(&sentence::first(&tool.description)),
        ]);
        if is_long {
            let details = [
                cell(&tool.effects.to_string()),
                cell(&entry.source().to_string()),
            ];
            details
                .into_iter()
                .for_each(|detail| table.push_below(FAINT, detail));
        }
    }
    table.wrapped(width)
}
