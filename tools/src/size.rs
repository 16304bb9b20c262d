//! The size of a value as JSON text, computed without storing the text.

use protocol::Json;
use serde::Serialize;

/// Returns the length of a value's JSON text in bytes, or `None` if it is within the limit.
pub(crate) fn over(json: &Json, limit: usize) -> Option<usize> {
    let size = match json.serialized_len() {
        Some(size) => size,
        // Nearly all values are far below the limit, and are not written to be measured.
        None if json.extent().max_encoded_len() <= limit => return None,
        None => encoded_len(json),
    };
    (size > limit).then_some(size)
}

/// Returns the length of a value's JSON text in bytes.
pub(crate) fn encoded_len(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // Serializing into a counter does not fail; if it did, the value would count as too large.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
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
        let values = [
            json!(null),
            json!([]),
            json!(-1.797_693_134_862_315_7e308),
            json!({"a\u{1}": ["é\u{7}", {"b": 2}]}),
        ];
        for value in values
            .into_iter()
            .chain([json!("x".repeat(100)), json!(vec![u64::MAX; 20])])
        {
            let size = value.to_string().len();
            assert_eq!(encoded_len(&value), size);
            for json in [
                Json::from(value.clone()),
                Json::from_serialize(&value).unwrap(),
            ] {
                let overs = [size - 1, size, 10 * size].map(|limit| over(&json, limit));
                assert_eq!(overs, [Some(size), None, None], "{value}");
            }
        }
    }
}
