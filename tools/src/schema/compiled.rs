//! A schema together with its validator, for the tests of this folder.

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
        // Inspected before it is copied, because copying recurses.
        let validator = Validator::compile(schema, &inspect(schema)?)?;
        Ok(Self {
            schema: schema.clone(),
            validator,
        })
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        self.check_node(value.into(), None)
    }

    pub(super) fn check_node(
        &self,
        value: Node<'_>,
        mask: Option<&Mask>,
    ) -> Result<(), Vec<Violation>> {
        self.validator.check(&self.schema, value, mask)
    }

    pub(super) fn max_depth(&self) -> u64 {
        self.validator.max_depth
    }
}
