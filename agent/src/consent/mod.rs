//! Consent of a person to calls: [`SessionConsent`] asks and remembers, [`DeferredConsent`] takes answers later, and rules express consent that was given by granting a
//! clause or by typing a call.

mod approval_key;
mod deferred;
mod question;
mod remembered;
mod request;
mod rule;
mod session_consent;

pub(crate) use self::approval_key::ApprovalKey;
pub(crate) use self::deferred::DeferredRequests;
pub use self::question::{ApprovalAnswer, ApprovalAnswerFuture, ApprovalQuestion, Asker, CHANGED};
pub use deferred::DeferredConsent;
pub use request::ApprovalRequest;
pub use rule::{rules_from_grant, rules_from_typed};
pub use session_consent::SessionConsent;
