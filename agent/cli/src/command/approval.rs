//! [`is_approved`]: the approval of a content that was shown, by a digest or by a person.

use std::sync::Arc;

use tools::Digest;

use crate::console::Console;
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
        let given = digests
            .iter()
            .map(Digest::to_string)
            .collect::<Vec<_>>()
            .join(" or ");
        return Err(Error::WrongDigest {
            what,
            shown: *shown,
            given,
        });
    }
    if !dialogue::has_person() {
        notice::hint(&format!(
            "to approve {what} without a terminal, add --digest {shown}"
        ));
        return Ok(false);
    }
    let console: Arc<Console> = Arc::default();
    let dialogue = Dialogue::new(console);
    let question = format!(
        "{} [y] yes, [n] no: ",
        styled(STRONG, format!("Approve {what}?"))
    );
    let answer = dialogue.open().await.ask(&question).await;
    Ok(answer.is_some_and(|line| dialogue::is_yes(&line)))
}
