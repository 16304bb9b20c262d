//! A schema and its validator in one, for the tests of this folder.

use serde_json::Value;

use super::budget::inspect;
use super::{Mask, SchemaError, Validator, Violation};
use crate::tree::Tree;

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
        self.validator.check(&self.schema, value)
    }

    pub(super) fn check_tree(&self, tree: &Tree, mask: Option<&Mask>) -> Result<(), Vec<Violation>> {
        self.validator.check_tree(&self.schema, tree, mask)
    }

    pub(super) fn deepest(&self) -> u64 {
        self.validator.deepest
    }
}
