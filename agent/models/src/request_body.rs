//! [`RequestBody`]: the JSON object of a request, of which most is text already.

use serde_json::Value;

/// A JSON object to which members are appended.
// A tree of a long conversation would be built and printed again in each step, although only its end is new.
pub(crate) struct RequestBody(Vec<u8>);

impl RequestBody {
    /// Creates an object with room for these texts and some fields. One that grows is kept twice while it is moved.
    pub(crate) fn with_room<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let lengths = texts.into_iter().map(|text| text.len() + 1);
        let mut body = Vec::with_capacity(2_048 + lengths.sum::<usize>());
        body.push(b'{');
        Self(body)
    }

    /// Adds a member whose value is JSON text.
    pub(crate) fn text(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0
            .extend_from_slice(format!("\"{name}\":{json}").as_bytes());
    }

    /// Adds a member.
    pub(crate) fn field(&mut self, name: &str, value: &Value) {
        self.text(name, &value.to_string());
    }

    /// Adds a list whose elements are JSON texts.
    pub(crate) fn list<'a>(&mut self, name: &str, elements: impl IntoIterator<Item = &'a str>) {
        self.text(name, "[");
        for (position, element) in elements.into_iter().enumerate() {
            if position > 0 {
                self.0.push(b',');
            }
            self.0.extend_from_slice(element.as_bytes());
        }
        self.0.push(b']');
    }

    /// Returns the text of the object.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}
