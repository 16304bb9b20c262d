//! JSON with line breaks.

use serde::de::IgnoredAny;

/// The most text for a byte of JSON. Beyond it, the text stays as it was sent.
const MAX_GROWTH: usize = 4;

/// Returns JSON with one value a line. Numbers and strings stay as they were sent, and so does a text that is not JSON.
pub(crate) fn pretty(text: &str) -> String {
    // The parser refuses nesting that is too deep.
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return text.to_owned();
    }
    indent(text, text.len().saturating_mul(MAX_GROWTH) + 1024).unwrap_or_else(|| text.to_owned())
}

/// Returns valid JSON with line breaks, or `None` if it would exceed a limit.
fn indent(text: &str, limit: usize) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    let mut opens = false;
    for c in text.chars() {
        if out.len() > limit {
            return None;
        }
        if in_string {
            out.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        let closes = matches!(c, ']' | '}');
        if closes {
            depth -= 1;
        }
        // Empty objects and arrays stay in one line.
        if opens != closes {
            break_line(&mut out, depth);
        }
        opens = matches!(c, '[' | '{');
        depth += usize::from(opens);
        out.push(c);
        match c {
            ',' => break_line(&mut out, depth),
            ':' => out.push(' '),
            '"' => in_string = true,
            _ => {}
        }
    }
    Some(out)
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', 2 * depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_as_they_were_sent() {
        let sent = r#"{"n":123456789012345678901234567890,"f":1.10,"s":"a\"b: {","e":[],"o":{ },"l":[1,[2]]}"#;
        let expected = r#"{
  "n": 123456789012345678901234567890,
  "f": 1.10,
  "s": "a\"b: {",
  "e": [],
  "o": {},
  "l": [
    1,
    [
      2
    ]
  ]
}"#;
        assert_eq!(pretty(sent), expected);
        assert_eq!(pretty(" 7 "), "7");
    }

    #[test]
    fn what_is_no_json_or_too_deep_stays() {
        let deep = "[".repeat(100_000);
        for text in ["{", "callback({})", &deep] {
            assert_eq!(pretty(text), text);
        }
        let wide = format!(
            "{}{}1{}",
            "[".repeat(100),
            "1,".repeat(10_000),
            "]".repeat(100)
        );
        assert_eq!(pretty(&wide), wide);
    }
}
