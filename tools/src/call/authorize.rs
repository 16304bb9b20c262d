//! Authorize: decides about the targets of a call by its grant and its policy, the sensitive paths and the unnamed hosts.

use protocol::Target;

use crate::policy::{Ruling, Verdict};
use crate::tool_error::ToolErrorKind;

/// Returns the targets that need an approval, or `None` if the call needs none. The list is empty if the policy asks about a call
/// without targets.
///
/// # Errors
/// Returns [`ToolErrorKind::Denied`] if a rule of the policy denies a target.
pub(super) fn authorize<'a>(
    rulings: impl IntoIterator<Item = Ruling<'a>>,
) -> Result<Option<Vec<Target>>, ToolErrorKind> {
    let mut asked = None;
    for ruling in rulings {
        match ruling.verdict {
            Verdict::Allow => {}
            Verdict::Ask => asked
                .get_or_insert_with(Vec::new)
                .extend(ruling.target.cloned()),
            Verdict::Deny => {
                return Err(ToolErrorKind::Denied {
                    reason: ruling.denial(),
                });
            }
        }
    }
    Ok(asked)
}
