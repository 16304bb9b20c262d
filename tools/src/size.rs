//! The size of a value as JSON, without writing it anywhere.

use serde_json::Value;

/// The length of the text that a value is written as, in bytes, if it is over a limit.
pub(crate) fn over(value: &Value, limit: usize) -> Option<usize> {
    // Most values are far below every limit, and adding up what each part has at most is cheaper than writing them.
    let mut left = limit;
    if fits(value, &mut left) {
        return None;
    }
    Some(encoded(value)).filter(|size| *size > limit)
}

/// The length of the text that a value is written as, in bytes.
pub(crate) fn encoded(value: &Value) -> usize {
    let mut count = Count(0);
    // Neither a value nor the counting can fail; were it to, the value would count as too large.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

/// Takes off `left` no less than the value's length; says whether that went.
fn fits(value: &Value, left: &mut usize) -> bool {
    let most = match value {
        Value::Null | Value::Bool(_) => 5,
        // Digits, sign, point and exponent of the longest float.
        Value::Number(_) => 32,
        Value::String(string) => quoted(string),
        Value::Array(items) => 2 + items.len(),
        Value::Object(members) => 2 + members.keys().map(|key| quoted(key) + 2).sum::<usize>(),
    };
    match left.checked_sub(most) {
        Some(rest) => *left = rest,
        None => return false,
    }
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(members) => members.values().all(|member| fits(member, left)),
        _ => true,
    }
}

/// Every byte can become six.
fn quoted(string: &str) -> usize {
    string.len().saturating_mul(6).saturating_add(2)
}

struct Count(usize);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_over_a_limit_when_its_text_is() {
        let values =
            [json!(null), json!([]), json!(-1.797_693_134_862_315_7e308), json!({"a\u{1}": ["é\u{7}", {"b": 2}]})];
        for value in values.into_iter().chain([json!("x".repeat(100)), json!(vec![u64::MAX; 20])]) {
            let size = value.to_string().len();
            assert_eq!(encoded(&value), size);
            assert_eq!(
                [size - 1, size, 10 * size].map(|limit| over(&value, limit)),
                [Some(size), None, None],
                "{value}"
            );
        }
    }
}
