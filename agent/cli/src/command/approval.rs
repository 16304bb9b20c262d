//! [`is_approved`]: the approval of a content that was shown, by a digest or by a person.

use std::sync::Arc;

use tools::{Digest, join};

use crate::dialogue::{self, Dialogue};
use crate::error::Error;
use crate::notice::{self, STRONG, styled};

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
    if !dialogue::has_person() {
        notice::hint(&format!(
            "to approve {what} without a terminal, add --digest {shown}"
        ));
        return Ok(false);
    }
    let dialogue = Dialogue::new(Arc::default());
    let question = format!(
        "{} [y] yes, [n] no: ",
        styled(STRONG, format!("Approve {what}?"))
    );
    let answer = dialogue.open().await.ask(&question).await;
    Ok(answer.is_some_and(|line| dialogue::is_yes(&line)))
}
