//! [`has_token`]: the check of a server's bearer token.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use subtle::ConstantTimeEq as _;
use tools::Secret;

/// Returns true if the request has the bearer token. The time does not depend on how much of it is right.
pub(super) fn has_token(headers: &HeaderMap, expected: &Secret) -> bool {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let Some((scheme, token)) = value.as_bytes().split_at_checked("Bearer ".len()) else {
        return false;
    };
    scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(token.ct_eq(expected.expose().as_bytes()))
}
