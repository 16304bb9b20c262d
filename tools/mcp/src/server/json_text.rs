//! [`is_json`]: whether a client's message can be read.

use serde::de::IgnoredAny;
use serde_json::Value;

/// Returns true if a text is one JSON value in UTF-8.
pub(super) fn is_json(text: &[u8]) -> bool {
    // Only a value that is built shows halves of surrogate pairs.
    let has_surrogate = || {
        text.windows(3)
            .any(|bytes| bytes.eq_ignore_ascii_case(b"\\ud"))
    };
    match std::str::from_utf8(text) {
        Ok(text) if has_surrogate() => serde_json::from_str::<Value>(text).is_ok(),
        Ok(text) => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_json_if_the_parser_reads_all_of_it() {
        for text in [&b"{}"[..], b" [1] ", br#"{"a":"\ud83d\ude00"}"#] {
            assert!(is_json(text));
        }
        for text in [
            &b"{bad"[..],
            b"",
            b"{} {}",
            b"{\"a\":\"\xe9\"}",
            br#"{"a":"\ud83d"}"#,
            b"{\"a\":NaN}",
        ] {
            assert!(!is_json(text));
        }
    }
}
