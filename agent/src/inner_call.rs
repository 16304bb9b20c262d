//! Calls through `tools.call`: the call of one tool that stands for the call of another.

use serde_json::json;
use tools::protocol::json::{Kind, Node};
use tools::{Json, ToolCall};

/// The name of the tool that calls tools which a request does not offer.
pub(crate) const CALLER: &str = "tools.call";

const NAME: &str = "name";
const ARGUMENTS: &str = "arguments";

/// Returns the call for which a call of [`CALLER`] stands, with the same id. Returns `None` for a call of another tool, and if the
/// arguments do not name one.
pub(crate) fn inner(call: &ToolCall) -> Option<ToolCall> {
    innermost(call)?.to_call(call)
}

/// Returns the name of the tool that the call runs: that of the [inner](inner) call if it has one.
pub(crate) fn name(call: &ToolCall) -> &str {
    innermost(call).map_or(&call.name, |inner| inner.name)
}

/// Returns the call that the arguments contain, which may be one of [`CALLER`] itself.
pub(crate) fn direct_inner(call: &ToolCall) -> Option<ToolCall> {
    InnerCall::read(&call.name, Some(call.arguments.node()))?.to_call(call)
}

/// Returns a call of [`CALLER`] with the arguments of its inner call as an object, if they are a text that holds one or null. Other calls
/// stay.
pub(crate) fn readable(call: ToolCall) -> ToolCall {
    match read_inner(&call) {
        Some(inner) => with_inner(call, &inner),
        None => call,
    }
}

/// Returns `None` if the call names no inner call or its arguments cannot be read.
fn read_inner(call: &ToolCall) -> Option<ToolCall> {
    let inner = InnerCall::read_any(&call.name, Some(call.arguments.node()))?;
    let arguments = match inner.arguments?.kind() {
        Kind::Null => Json::default(),
        Kind::String(text) => Json::parse(text)
            .ok()
            .filter(|arguments| arguments.node().is_object())?,
        _ => return None,
    };
    Some(ToolCall::new(call.id.as_str(), inner.name, arguments))
}

/// A call inside the arguments of another.
struct InnerCall<'a> {
    name: &'a str,
    arguments: Option<Node<'a>>,
}

fn innermost(call: &ToolCall) -> Option<InnerCall<'_>> {
    let mut inner = InnerCall::read(&call.name, Some(call.arguments.node()))?;
    // Ends, because each inner call is a part of the outer one.
    while let Some(deeper) = InnerCall::read(inner.name, inner.arguments) {
        inner = deeper;
    }
    Some(inner)
}

impl<'a> InnerCall<'a> {
    /// Reads the inner call of a call with this name and these arguments.
    fn read(name: &str, arguments: Option<Node<'a>>) -> Option<Self> {
        let inner = Self::read_any(name, arguments)?;
        Some(inner).filter(|inner| inner.arguments.is_none_or(Node::is_object))
    }

    /// Reads the inner call, whatever its arguments are.
    fn read_any(name: &str, arguments: Option<Node<'a>>) -> Option<Self> {
        let outer = arguments.filter(|_| name == CALLER)?;
        let name = outer.get(NAME)?.as_str()?;
        let arguments = outer.get(ARGUMENTS);
        // Other members are left to the validation of the outer call.
        let mut members = outer.members();
        let is_known = members.all(|(key, _)| matches!(key, NAME | ARGUMENTS));
        is_known.then_some(Self { name, arguments })
    }

    /// Returns the call, with the id of the outer one.
    fn to_call(&self, outer: &ToolCall) -> Option<ToolCall> {
        let arguments = match self.arguments {
            None => Json::default(),
            Some(arguments) => Json::parse(arguments.to_string()).ok()?,
        };
        Some(ToolCall::new(outer.id.as_str(), self.name, arguments))
    }
}

/// Returns a call of [`CALLER`] for another inner call.
pub(crate) fn with_inner(call: ToolCall, inner: &ToolCall) -> ToolCall {
    let text = format!(
        "{{\"{NAME}\":{},\"{ARGUMENTS}\":{}}}",
        json!(inner.name),
        inner.arguments
    );
    match Json::parse(text) {
        Ok(arguments) => ToolCall { arguments, ..call },
        // The arguments were JSON at one level less.
        Err(_) => call,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: serde_json::Value) -> ToolCall {
        ToolCall::new("a", CALLER, arguments)
    }

    #[test]
    fn a_call_stands_for_the_one_that_it_names() {
        let inner_of = |arguments| inner(&call(arguments));
        let named = ToolCall::new("a", "fs.read", json!({"path": "x"}));
        assert_eq!(
            inner_of(json!({"name": "fs.read", "arguments": {"path": "x"}})),
            Some(named.clone())
        );
        let nested =
            json!({"name": CALLER, "arguments": {"name": "fs.read", "arguments": {"path": "x"}}});
        assert_eq!(
            (inner_of(nested.clone()), name(&call(nested))),
            (Some(named), "fs.read")
        );
        assert_eq!(
            inner_of(json!({"name": "time.now"})),
            Some(ToolCall::new("a", "time.now", json!({})))
        );
    }

    #[test]
    fn arguments_that_do_not_name_a_call_stay_those_of_the_outer_call() {
        for arguments in [
            json!({}),
            json!({"name": 1}),
            json!({"name": "x", "arguments": "{}"}),
            json!({"name": "x", "arguments": null}),
            json!({"name": "x", "path": "y"}),
            json!("x"),
        ] {
            let call = call(arguments.clone());
            assert_eq!((inner(&call), name(&call)), (None, CALLER), "{arguments}");
        }
        assert_eq!(
            inner(&ToolCall::new("a", "fs.read", json!({"name": "x"}))),
            None
        );
    }

    #[test]
    fn arguments_in_a_text_are_read_and_others_stay() {
        let read = |arguments| readable(call(arguments)).arguments;
        let named = json!({"name": "x", "arguments": {"path": "y"}});
        assert_eq!(
            read(json!({"name": "x", "arguments": "{\"path\": \"y\"}"})),
            named
        );
        assert_eq!(
            read(json!({"name": "x", "arguments": null})),
            json!({"name": "x", "arguments": {}})
        );
        for other in [
            named,
            json!({"name": "x", "arguments": "y"}),
            json!({"name": "x", "arguments": "{}", "z": 1}),
        ] {
            assert_eq!(read(other.clone()), other);
        }
    }

    #[test]
    fn long_integers_keep_their_digits() {
        let text = r#"{"name":"x","arguments":{"id":123456789012345678901234567890}}"#;
        let outer = ToolCall::new("a", CALLER, Json::parse(text).unwrap());
        let inner = inner(&outer).unwrap();
        assert_eq!(
            inner.arguments.to_string(),
            r#"{"id":123456789012345678901234567890}"#
        );
        assert_eq!(with_inner(outer, &inner).arguments.to_string(), text);
    }
}
