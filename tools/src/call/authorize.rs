//! Authorize: decides about the targets of a call by its grant, its policy and the sensitive paths.

use protocol::Target;

use crate::ToolErrorKind;
use crate::policy::{Ruling, Verdict};

/// Returns the targets that need an approval, or `None` if the call needs none. The list is empty if the policy asks about a call
/// without targets.
///
/// # Errors
/// Returns [`ToolErrorKind::Denied`] if a rule of the policy denies a target.
pub(super) fn authorize(rulings: &[Ruling<'_>]) -> Result<Option<Vec<Target>>, ToolErrorKind> {
    // All targets are checked first, so that the approver is not asked about a denied call.
    if let Some(reason) = rulings.iter().find_map(Ruling::denial) {
        return Err(ToolErrorKind::Denied { reason });
    }
    let mut asked = rulings.iter().filter(|ruling| ruling.verdict() == Verdict::Ask).peekable();
    if asked.peek().is_none() {
        return Ok(None);
    }
    Ok(Some(asked.filter_map(|ruling| ruling.target.cloned()).collect()))
}
