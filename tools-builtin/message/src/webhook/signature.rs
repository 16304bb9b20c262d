//! [`Signature`]: proves that a request comes from a holder of the key.

use data_encoding::HEXLOWER_PERMISSIVE;
use hmac_sha256::HMAC;
use subtle::ConstantTimeEq as _;
use tools::Secret;
use tools_http::server::single_header;
use tools_http::{HeaderMap, HeaderName};

/// The maximum difference between the time of a signature and the clock, in seconds.
const MAX_AGE: u64 = 5 * 60;

/// The signatures of requests: HMAC-SHA256 over `v0:TIME:BODY`, as Slack makes them.
#[derive(Debug)]
pub(super) struct Signature {
    key: Secret,
    time: HeaderName,
    signature: HeaderName,
}

impl Signature {
    /// Creates the signature of Slack, or of other senders.
    pub(super) fn new(key: Secret, is_slack: bool) -> Self {
        let [time, signature] = if is_slack {
            ["x-slack-request-timestamp", "x-slack-signature"]
        } else {
            ["x-toolcrib-timestamp", "x-toolcrib-signature"]
        };
        Self {
            key,
            time: HeaderName::from_static(time),
            signature: HeaderName::from_static(signature),
        }
    }

    /// Checks and returns the signature of a body at a time, in seconds since 1970. The time that this takes does not depend on how much
    /// of the signature is right. Returns `None` if it is wrong, missing, given twice, too old or from the future.
    pub(super) fn check(&self, headers: &HeaderMap, body: &[u8], now: u64) -> Option<[u8; 32]> {
        let text = single_header(headers, &self.time)?;
        let time: u64 = text.parse().ok()?;
        let given = single_header(headers, &self.signature)?.strip_prefix("v0=")?;
        let given = HEXLOWER_PERMISSIVE.decode(given.as_bytes()).ok()?;
        let given: [u8; 32] = given.try_into().ok()?;
        let mut mac = HMAC::new(self.key.expose().trim().as_bytes());
        mac.update(format!("v0:{text}:").as_bytes());
        mac.update(body);
        let signature = mac.finalize();
        let is_right = bool::from(signature.ct_eq(&given));
        (is_right && now.abs_diff(time) <= MAX_AGE).then_some(signature)
    }
}
