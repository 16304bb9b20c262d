//! Decides by the answer of a webhook whether it took the message.

use std::ops::RangeInclusive;

use tools_http::StatusCode;

use crate::SendError;

/// The meaning of an answer for a message, which is sent at most once.
#[derive(Clone, Copy)]
enum Taken {
    Yes,
    /// Certainly not.
    No,
    /// Certainly not, and the same message may be sent later.
    NotNow,
    /// The service may have it.
    Perhaps,
}

/// The statuses with their meaning by RFC 9110 (429 by RFC 6585), and the reason. The first row of a status counts.
const ANSWERS: [(RangeInclusive<u16>, Taken, &str); 8] = [
    (200..=299, Taken::Yes, ""),
    // 15.4: 303 is the answer to a request that was carried out, and in practice so are 301 and 302.
    (
        300..=399,
        Taken::Perhaps,
        "the server redirects, perhaps after it took the message",
    ),
    // 15.5.9: a gateway that did not get all of it in time may have passed it on.
    (408..=408, Taken::Perhaps, "the server ran out of time"),
    // 15.5.10: the message may be there already.
    (
        409..=409,
        Taken::Perhaps,
        "the server has a conflict, such as with a message that it took before",
    ),
    (
        429..=429,
        Taken::NotNow,
        "the server takes no messages for now",
    ),
    // 15.5: the server cannot or will not process the request, also with a status that is unknown.
    (400..=499, Taken::No, "the server refused it"),
    // 15.6.2: the server does not know the method.
    (501..=501, Taken::No, "the server does not take messages"),
    // 15.6: a gateway may answer for a service that took it, also with 503.
    (500..=599, Taken::Perhaps, "the server failed"),
];

/// Checks that the service took the message.
pub(super) fn check(status: StatusCode) -> Result<(), SendError> {
    let code = status.as_u16();
    let row = ANSWERS
        .iter()
        .find(|(statuses, ..)| statuses.contains(&code));
    let (taken, reason) = row.map_or(
        (Taken::Perhaps, "the answer is unknown"),
        |(_, taken, reason)| (*taken, *reason),
    );
    match taken {
        Taken::Yes => Ok(()),
        Taken::No => Err(SendError::not_sent(format!(
            "{reason} with status {code}; ask the user to check the URL of the channel"
        ))),
        Taken::NotNow => Err(SendError::later(format!("{reason} (status {code})"))),
        Taken::Perhaps => Err(SendError::unclear(format!("{reason} (status {code})"))),
    }
}
