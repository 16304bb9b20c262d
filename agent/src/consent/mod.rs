//! Consent of a person to calls: [`SessionConsent`] asks and remembers, and rules express consent that was given by granting a
//! clause or by typing a call.

mod asker;
mod question;
mod rule;
mod session_consent;

pub use asker::{ApprovalAnswer, ApprovalAnswerFuture, Asker};
pub use question::ApprovalQuestion;
pub use rule::{rules_from_grant, rules_from_typed};
pub use session_consent::SessionConsent;
