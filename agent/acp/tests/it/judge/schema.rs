//! [`Schema`]: the JSON schema of version 1, by the methods of messages.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

/// The kind of a message of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// The parameters of a request or a notification.
    Params,
    /// The result of a request.
    Result,
}

/// The schema of version 1, compiled by method.
pub(crate) struct Schema {
    validators: HashMap<(Part, String), Validator>,
    /// The methods that the client handles.
    of_client: Vec<String>,
    /// The validator of an error.
    error: Validator,
}

impl Schema {
    /// Returns the schema, which takes a third of a second to compile.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: LazyLock<Schema> = LazyLock::new(Schema::new);
        &SHARED
    }

    fn new() -> Self {
        let document: Value = serde_json::from_str(include_str!("schema/v1.json")).unwrap();
        let definitions = document["$defs"].as_object().unwrap();
        let compile = |name: &str| {
            let schema = json!({
                "$schema": document["$schema"],
                "$ref": format!("#/$defs/{name}"),
                "$defs": document["$defs"],
            });
            jsonschema::validator_for(&schema).unwrap()
        };
        let mut validators = HashMap::new();
        let mut of_client = Vec::new();
        for (name, definition) in definitions {
            let Some(method) = definition["x-method"].as_str() else {
                continue;
            };
            let is_result = name.ends_with("Response");
            let part = if is_result {
                Part::Result
            } else {
                Part::Params
            };
            if !is_result && definition["x-side"] != "agent" {
                of_client.push(method.to_owned());
            }
            validators.insert((part, method.to_owned()), compile(name));
        }
        Self {
            validators,
            of_client,
            error: compile("Error"),
        }
    }

    /// Returns true if the client handles the method.
    pub(crate) fn is_of_client(&self, method: &str) -> bool {
        self.of_client.iter().any(|of_client| of_client == method)
    }

    /// Returns the first problem of the parameters or the result of a method.
    pub(crate) fn problem(&self, part: Part, method: &str, value: &Value) -> Option<String> {
        let Some(validator) = self.validators.get(&(part, method.to_owned())) else {
            return Some(format!("version 1 has no {part:?} of {method}"));
        };
        first_problem(validator, value)
    }

    /// Returns the first problem of an error.
    pub(crate) fn problem_of_error(&self, error: &Value) -> Option<String> {
        first_problem(&self.error, error)
    }
}

fn first_problem(validator: &Validator, value: &Value) -> Option<String> {
    let error = validator.iter_errors(value).next()?;
    Some(format!("{error} at {}", error.instance_path()))
}
