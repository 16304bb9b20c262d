//! [`ArgumentsCodec`]: the arguments of a call on a wire and in the catalog.

mod required;
mod state;
mod states;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::keys::stem;
use crate::Json;
use crate::json::{Kind, Node};

use self::required::Required;
use self::state::State;
pub(super) use self::states::{Candidate, states};

/// Translates the arguments of a tool's calls between the catalog and a wire.
///
/// A wire may have other property keys than the catalog. A strict wire also has a null for each absent optional property. For
/// most tools both forms are the same, and nothing is copied.
#[derive(Clone, Debug, Default)]
pub struct ArgumentsCodec {
    /// The first state is that of the arguments. Empty if both forms are the same.
    states: Arc<[State]>,
    /// The schema on a strict wire.
    strict: Option<Arc<Value>>,
}

impl ArgumentsCodec {
    pub(super) fn new(states: Vec<State>, strict: Option<Value>) -> Self {
        Self { states: states.into(), strict: strict.map(Arc::new) }
    }

    /// Returns true if arguments are the same on the wire and in the catalog.
    pub fn is_identity(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the property keys with another key on the wire, each with that key, in no order.
    pub fn replaced_keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.states.iter().flat_map(|state| &state.wires).map(|(key, wire)| (&**key, &**wire))
    }

    /// Returns the arguments as the catalog's schema names them, given those of a model.
    ///
    /// Arguments that do not match the schema are translated as far as they match. The canonical schema judges them afterwards.
    pub fn decode(&self, arguments: &Json) -> Json {
        self.translate(arguments, |text| self.write_decoded(arguments.node(), Some(0), text))
    }

    /// Returns the arguments as the wire's schema names them, such as those of earlier calls.
    pub fn encode(&self, arguments: &Json) -> Json {
        let strict = self.strict.as_ref().map(|root| Required { root, schema: root });
        self.translate(arguments, |text| self.write_encoded(arguments.node(), Some(0), strict, text))
    }

    fn translate(&self, arguments: &Json, write: impl FnOnce(&mut String)) -> Json {
        if self.is_identity() {
            return arguments.clone();
        }
        let mut text = String::new();
        write(&mut text);
        // Only arguments that nest too deep for a parser fail here, and the pipeline refuses those.
        Json::parse(text).unwrap_or_else(|_| arguments.clone())
    }

    fn write_decoded(&self, node: Node<'_>, state: Option<usize>, text: &mut String) {
        let Some(state) = state.and_then(|index| self.states.get(index)) else { return push_plain(text, node) };
        match node.kind() {
            Kind::Object => {
                let mut list = List::begin(text, '{');
                for (key, member) in node.members() {
                    let decoded = state.decoded_key(key);
                    // A model that knows the key from elsewhere may send both. The schema judges the other one.
                    let is_taken = state.is_replaced(&decoded) && decoded != key && node.get(&decoded).is_some();
                    let decoded = if is_taken { Cow::Borrowed(key) } else { decoded };
                    if member.kind() != Kind::Null || !state.is_absent_as_null(&decoded) {
                        list.key(&decoded);
                        self.write_decoded(member, state.member(&decoded), list.text);
                    }
                }
                list.end('}');
            }
            Kind::Array => {
                let mut list = List::begin(text, '[');
                for (index, element) in node.elements().enumerate() {
                    list.separate();
                    self.write_decoded(element, state.element(index), list.text);
                }
                list.end(']');
            }
            _ => push_plain(text, node),
        }
    }

    fn write_encoded(&self, node: Node<'_>, state: Option<usize>, strict: Option<Required<'_>>, text: &mut String) {
        let Some(state) = state.and_then(|index| self.states.get(index)) else { return push_plain(text, node) };
        let strict = strict.and_then(|strict| strict.for_value(node, state));
        match node.kind() {
            Kind::Object => {
                let mut list = List::begin(text, '{');
                for (key, member) in node.members() {
                    let wire = state.encoded_key(key);
                    list.key(&wire);
                    let strict = strict.and_then(|strict| strict.property(&wire));
                    self.write_encoded(member, state.member(key), strict, list.text);
                }
                for wire in strict.into_iter().flat_map(Required::keys) {
                    if node.get(&state.decoded_key(wire)).is_none() {
                        list.key(wire);
                        list.text.push_str("null");
                    }
                }
                list.end('}');
            }
            Kind::Array => {
                let strict = strict.and_then(Required::items);
                let mut list = List::begin(text, '[');
                for (index, element) in node.elements().enumerate() {
                    list.separate();
                    self.write_encoded(element, state.element(index), strict, list.text);
                }
                list.end(']');
            }
            _ => push_plain(text, node),
        }
    }
}

/// The members or elements of a JSON value that is being written.
struct List<'t> {
    text: &'t mut String,
    is_empty: bool,
}

impl<'t> List<'t> {
    fn begin(text: &'t mut String, bracket: char) -> Self {
        text.push(bracket);
        Self { text, is_empty: true }
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.text.push(',');
        }
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.text.push_str(&Value::from(key).to_string());
        self.text.push(':');
    }

    fn end(self, bracket: char) {
        self.text.push(bracket);
    }
}

fn push_plain(text: &mut String, node: Node<'_>) {
    text.push_str(&node.to_string());
}
