//! [`StrictLimits`]: the strict tools that a service takes in one request.

use serde_json::Value;

use super::schema::keyword::for_each;
use super::{Format, WireTool};

/// The number of strict tools, and of their parameters, that a service takes in one request.
///
/// ```
/// use protocol::wire::Format;
///
/// assert_eq!(Format::Anthropic.strict_limits().map(|limits| limits.tools), Some(20));
/// assert_eq!(Format::OpenAiChat.strict_limits(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrictLimits {
    /// The number of strict tools.
    pub tools: usize,
    /// The number of optional parameters in all strict tools.
    pub optional: usize,
    /// The number of parameters with a union type in all strict tools.
    pub unions: usize,
}

impl Format {
    /// Returns the limits of one request. Returns `None` if the service has none.
    pub fn strict_limits(self) -> Option<StrictLimits> {
        match self {
            // From the guide "Structured outputs" of Claude's platform.
            Self::Anthropic => Some(StrictLimits {
                tools: 20,
                optional: 24,
                unions: 16,
            }),
            _ => None,
        }
    }
}

impl StrictLimits {
    /// Returns the limits after a strict tool. Returns `None` if the tool exceeds them.
    pub fn after(self, tool: &WireTool) -> Option<Self> {
        let mut used = Used::default();
        used.add(&tool.parameters);
        Some(Self {
            tools: self.tools.checked_sub(1)?,
            optional: self.optional.checked_sub(used.optional)?,
            unions: self.unions.checked_sub(used.unions)?,
        })
    }
}

/// The parameters of one schema, at any depth.
#[derive(Default)]
struct Used {
    optional: usize,
    unions: usize,
}

impl Used {
    fn add(&mut self, schema: &Value) {
        let Value::Object(keywords) = schema else {
            return;
        };
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            let required = keywords
                .get("required")
                .and_then(Value::as_array)
                .map_or(0, Vec::len);
            self.optional += properties.len().saturating_sub(required);
            self.unions += properties
                .values()
                .filter_map(Value::as_object)
                .filter(|it| {
                    it.contains_key("anyOf") || it.get("type").is_some_and(Value::is_array)
                })
                .count();
        }
        for_each(keywords, |_, schema| self.add(schema));
    }
}
