//! Consent of a person to calls: [`SessionConsent`] asks and remembers, [`DeferredConsent`] takes answers later, and rules express consent that was given by granting a
//! clause or by typing a call.

mod approval_key;
mod asker;
mod deferred;
mod deferred_requests;
mod question;
mod remembered;
mod request;
mod rule;
mod session_consent;

pub(crate) use approval_key::ApprovalKey;
pub use asker::{ApprovalAnswer, ApprovalAnswerFuture, Asker};
pub use deferred::DeferredConsent;
pub(crate) use deferred_requests::DeferredRequests;
pub use question::{ApprovalQuestion, CHANGED};
pub use request::ApprovalRequest;
pub use rule::{rules_from_grant, rules_from_typed};
pub use session_consent::SessionConsent;
