//! [`is_approved`]: the approval of a content that was shown, by a digest or by a person.

use terminal::Console;
use tools::{Digest, join};

use crate::error::Error;
use crate::notice;

/// Returns true if a digest on the command line or the person at the terminal approves.
///
/// # Errors
/// Returns an error if all digests on the command line are others.
pub(super) async fn is_approved(
    digests: &[Digest],
    shown: &Digest,
    what: &'static str,
) -> Result<bool, Error> {
    if digests.contains(shown) {
        return Ok(true);
    }
    if !digests.is_empty() {
        return Err(Error::WrongDigest {
            what,
            shown: *shown,
            given: join(digests, " or "),
        });
    }
    if !terminal::has_person() {
        notice::hint(&format!(
            "to approve {what} without a terminal, add --digest {shown}"
        ));
        return Ok(false);
    }
    let question = format!("Approve {what}?");
    Ok(terminal::confirm(&Console::default(), "", &question).await)
}
