//! A schema and its validator in one, for the tests of this folder.

use protocol::json::Node;
use serde_json::Value;

use super::budget::inspect;
use super::{Mask, SchemaError, Validator, Violation};

pub(super) struct Compiled {
    schema: Value,
    validator: Validator,
}

impl Compiled {
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaError> {
        // A copy is made of what is no bomb: copying recurses.
        let validator = Validator::compile(schema, &inspect(schema)?)?;
        Ok(Self { schema: schema.clone(), validator })
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        self.check_node(value.into(), None)
    }

    pub(super) fn check_node(&self, value: Node<'_>, mask: Option<&Mask>) -> Result<(), Vec<Violation>> {
        self.validator.check(&self.schema, value, mask)
    }

    pub(super) fn deepest(&self) -> u64 {
        self.validator.deepest
    }
}
