//! Consent of a person to calls: [`SessionConsent`] asks and remembers, [`DeferredConsent`] takes answers later, and rules express consent that was given by granting a
//! clause or by typing a call.

mod asker;
mod deferred;
mod question;
mod request;
mod rule;
mod session_consent;

pub use asker::{ApprovalAnswer, ApprovalAnswerFuture, Asker};
pub use deferred::DeferredConsent;
pub use question::ApprovalQuestion;
pub use request::ApprovalRequest;
pub use rule::{rules_from_grant, rules_from_typed};
pub use session_consent::SessionConsent;
