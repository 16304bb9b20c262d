//! [`Entry::verify`]: compiles the schemas and validates the examples of a tool before its first call.

use protocol::Example;

use super::validate::validate;
use crate::entry::{Entry, schema_error};
use crate::register_error::RegisterError;
use crate::tool_error::ToolErrorKind;

impl Entry {
    /// Compiles the schemas and validates the examples, which registration does not do. For tests of tools, and for programs that check
    /// their tools at start-up. [`problems`](crate::Catalog::problems) verifies a whole catalog.
    ///
    /// # Errors
    /// - [`RegisterError::Schema`] if a schema does not compile.
    /// - [`RegisterError::Example`] if an example does not fit its schema.
    pub fn verify(&self) -> Result<(), RegisterError> {
        let name = self.name();
        self.parameters()
            .map_err(|error| schema_error(name, "parameters", error.clone()))?;
        self.output()
            .transpose()
            .map_err(|error| schema_error(name, "output", error.clone()))?;
        self.tool()
            .examples
            .iter()
            .enumerate()
            .try_for_each(|(index, example)| self.verify_example(index, example))
    }

    /// Validates one example.
    ///
    /// # Errors
    /// Returns [`RegisterError::Example`] if it does not fit its schemas. Errors of the schemas are not looked for.
    pub(crate) fn verify_example(
        &self,
        index: usize,
        example: &Example,
    ) -> Result<(), RegisterError> {
        let Example { arguments, result } = example;
        let checked = if let Err(ToolErrorKind::InvalidArguments { violations }) =
            validate(self, &arguments.clone().into())
        {
            Err(violations)
        } else if let (Some(Ok((schema, output))), Some(result)) = (self.output(), result) {
            output.check(schema, result.into(), None)
        } else {
            Ok(())
        };
        checked.map_err(|violations| RegisterError::Example {
            name: self.name().clone(),
            index,
            violations,
        })
    }
}
