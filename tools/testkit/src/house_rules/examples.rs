//! The rules of examples.

use std::thread;

use serde_json::Value;
use tools::protocol::Example;
use tools::{Catalog, Entry, RegisterError, Tool, ToolContext, ToolError, ToolErrorKind, ToolResult};

use super::{Fault, HouseRules, Rule};
use crate::host::runtime;

impl HouseRules {
    pub(super) fn check_examples(&self, catalog: &Catalog, entry: &Entry, faults: &mut Vec<Fault>) {
        let tool = entry.tool();
        if tool.examples.is_empty() {
            faults.push(Fault::new(entry, Rule::Example, "it has no example; add one with example(…)"));
        }
        for (index, example) in tool.examples.iter().enumerate() {
            if let Err(error) = verify(entry, index, example) {
                // Other errors are the same for each example and are reported once, as problems of the catalog.
                if matches!(error, RegisterError::Example { .. }) {
                    faults.push(Fault::new(entry, Rule::Example, error.to_string()));
                }
            } else if tool.effects.is_pure() {
                let call = || call(catalog, &self.cx, entry, example);
                faults.extend(judge(index, example, call).map(|(rule, message)| Fault::new(entry, rule, message)));
            }
        }
    }
}

/// Validates one example. [`Entry::verify`] stops at the first invalid one.
fn verify(entry: &Entry, index: usize, example: &Example) -> Result<(), RegisterError> {
    let tool = Tool { examples: vec![example.clone()], ..entry.tool().clone() };
    let handler = async |_: ToolContext, _: Value| Ok::<_, String>(());
    match Entry::new(tool, handler, entry.source().clone())?.verify() {
        Err(RegisterError::Example { name, violations, .. }) => Err(RegisterError::Example { name, index, violations }),
        verified => verified,
    }
}

/// Compares two runs of an example with its declared result and with each other.
fn judge(index: usize, example: &Example, call: impl Fn() -> Result<ToolResult, ToolError>) -> Option<(Rule, String)> {
    let number = index + 1;
    let result = match call() {
        Ok(result) => result,
        Err(error) => {
            let is_output = matches!(error.kind(), ToolErrorKind::InvalidOutput { .. });
            let rule = if is_output { Rule::Output } else { Rule::Example };
            return Some((rule, format!("example {number} fails: {error}")));
        }
    };
    if result.is_error {
        return Some((Rule::Example, format!("example {number} fails: {}", result.to_text())));
    }
    let returned = value(&result);
    if let Some(declared) = &example.result
        && *declared != returned
    {
        let message = format!("example {number} declares the result {declared}, but the tool returned {returned}");
        return Some((Rule::Example, message));
    }
    let again = call().map_or_else(|error| Value::String(error.to_string()), |result| value(&result));
    (again != returned).then(|| {
        let message = format!(
            "two runs of example {number} returned {returned} and {again}; the result of a pure tool depends only on its \
             arguments, so declare what it reads"
        );
        (Rule::Effects, message)
    })
}

/// Returns the structured value of a result, or its text.
fn value(result: &ToolResult) -> Value {
    match &result.structured {
        Some(value) => value.value().clone(),
        None => Value::String(result.to_text()),
    }
}

/// Runs an example in a thread of its own, so that an async test can check the rules as well.
fn call(catalog: &Catalog, cx: &ToolContext, entry: &Entry, example: &Example) -> Result<ToolResult, ToolError> {
    let call = catalog.execute(cx, entry.name(), example.arguments.clone());
    let outcome = thread::scope(|scope| scope.spawn(|| runtime().block_on(call)).join());
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
