//! Supply: checks that the context offers the services that the tool requires.

use crate::{Entry, ToolContext, ToolErrorKind};

pub(super) fn supply(entry: &Entry, cx: &ToolContext) -> Result<(), ToolErrorKind> {
    if entry.needs().is_empty() {
        return Ok(());
    }
    let unmet = cx.services().unmet(entry.needs());
    if unmet.is_empty() {
        return Ok(());
    }
    Err(cx.services().lack_of(&unmet))
}
