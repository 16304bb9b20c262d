//! The secret arguments of a tool, and those of a call that it keeps for another one.

use std::sync::Arc;

use protocol::Json;
use serde_json::Value;

use super::Entry;
use crate::schema::MASK;

impl Entry {
    /// Returns true if an argument is masked: a secret, or the arguments of a kept call.
    pub(crate) fn has_masked(&self) -> bool {
        self.mask.is_some()
    }

    /// Returns the arguments with each `writeOnly` value replaced by `[secret]`, or unchanged if the tool has no secrets. The arguments of
    /// a [kept call](crate::Handler::kept_call) are masked too, because they may have secrets of another tool.
    /// [`Secret::mask`](crate::Secret::mask) describes the other values that are masked.
    ///
    /// Approvals, events, spans and journal records show and store only masked arguments. Stored digests are computed from them too,
    /// because a short secret could be guessed from its digest. Calls that differ only in masked values have equal digests.
    pub fn mask(&self, arguments: &Json) -> Json {
        match &self.mask {
            Some(mask) => mask.apply(arguments.value()).into(),
            None => arguments.clone(),
        }
    }

    /// Returns the arguments as [`mask`](Self::mask) does, and the arguments of a [kept call](crate::Handler::kept_call) as its tool
    /// masks them. All their values are masked if `find` does not know the tool.
    pub fn masked_in(&self, arguments: &Json, find: &dyn Fn(&str) -> Option<Arc<Self>>) -> Json {
        self.with_kept_call(self.mask(arguments), arguments, find)
    }

    /// Shows the arguments of a kept call in the [masked](Self::mask) arguments, masked as those of its tool.
    pub(crate) fn with_kept_call(
        &self,
        masked: Json,
        arguments: &Json,
        find: &dyn Fn(&str) -> Option<Arc<Self>>,
    ) -> Json {
        let Some(kept) = self.handler().kept_call() else {
            return masked;
        };
        let arguments = arguments.value();
        let Some(inner) = arguments.get(kept.arguments) else {
            return masked;
        };
        let tool = arguments.get(kept.tool).and_then(Value::as_str);
        let inner = match (tool.and_then(find), inner) {
            (Some(tool), inner) => tool.masked_in(&inner.clone().into(), find).into_value(),
            // Names are never masked.
            (None, Value::Object(members)) => members
                .keys()
                .map(|name| (name.clone(), Value::from(MASK)))
                .collect(),
            (None, _) => return masked,
        };
        let mut value = masked.into_value();
        if let Some(place) = value.get_mut(kept.arguments) {
            *place = inner;
        }
        value.into()
    }
}

/// Returns the schema with this argument marked as secret.
pub(super) fn with_hidden(parameters: &Value, argument: &str) -> Value {
    let mut schema = parameters.clone();
    match schema
        .pointer_mut("/properties")
        .and_then(|properties| properties.get_mut(argument))
    {
        Some(Value::Object(property)) => _ = property.insert("writeOnly".to_owned(), true.into()),
        // The argument is declared elsewhere, if at all, so all arguments are masked.
        _ => schema["writeOnly"] = true.into(),
    }
    schema
}
