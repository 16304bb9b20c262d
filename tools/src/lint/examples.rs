//! The rules of examples.

use std::sync::Arc;

use protocol::{Example, ToolResult};
use serde_json::Value;

use super::fault::{Fault, LintRule};
use crate::call::{Resolve, execute};
use crate::context::Host;
use crate::entry::Entry;
use crate::tool_error::{ToolError, ToolErrorKind};

/// Validates the examples, and runs those of a pure tool twice. Nested calls are resolved in `scope`. Without a host, the examples
/// of a tool that needs services do not run.
pub(super) async fn check(
    scope: &Arc<impl Resolve + 'static>,
    host: Option<&Host>,
    entry: &Entry,
    faults: &mut Vec<Fault>,
) {
    let tool = entry.tool();
    // An example of any other tool would have its effect on the machine of whoever runs the test.
    let runs = tool.effects.is_pure() && (host.is_some() || entry.needs().is_empty());
    let host = host.cloned().unwrap_or_else(Host::new);
    if tool.examples.is_empty() {
        faults.push(Fault::warning(
            entry,
            LintRule::Example,
            "it has no example; add one with example(…)",
        ));
    }
    for (index, example) in tool.examples.iter().enumerate() {
        if let Err(error) = entry.verify_example(index, example) {
            faults.push(Fault::error(entry, LintRule::Example, error.to_string()));
        } else if runs {
            let fault = judge(index, example, || {
                execute(
                    scope.clone(),
                    &host,
                    entry.name(),
                    example.arguments.clone(),
                )
            })
            .await;
            faults.extend(fault.map(|(rule, message)| Fault::error(entry, rule, message)));
        }
    }
    // One slow run can be due to a busy machine.
    if entry.holds() > 1 {
        let message = "its calls hold their thread for over 10 ms, and other calls wait; declare it `blocking`, or await";
        faults.push(Fault::warning(entry, LintRule::Limits, message));
    }
}

/// Compares two runs of an example with its declared result and with each other.
async fn judge<C>(
    index: usize,
    example: &Example,
    call: impl Fn() -> C,
) -> Option<(LintRule, String)>
where
    C: Future<Output = Result<ToolResult, ToolError>>,
{
    let number = index + 1;
    let result = match call().await {
        Ok(result) => result,
        Err(error) => {
            let is_output = matches!(error.kind(), ToolErrorKind::InvalidOutput { .. });
            let rule = if is_output {
                LintRule::Output
            } else {
                LintRule::Example
            };
            return Some((rule, format!("example {number} fails: {error}")));
        }
    };
    if result.is_error {
        return Some((
            LintRule::Example,
            format!("example {number} fails: {}", result.to_text()),
        ));
    }
    let returned = value(&result);
    if let Some(declared) = &example.result
        && *declared != returned
    {
        let message = format!(
            "example {number} declares the result {declared}, but the tool returned {returned}"
        );
        return Some((LintRule::Example, message));
    }
    // A pure tool may not read a clock or a random number, which one run cannot show.
    let again = call().await.map_or_else(
        |error| Value::String(error.to_string()),
        |result| value(&result),
    );
    (again != returned).then(|| {
        let message = format!(
            "two runs of example {number} returned {returned} and {again}; the result of a pure tool depends only on its \
             arguments, so declare what it reads"
        );
        (LintRule::Effects, message)
    })
}

/// Returns the structured value of a result, or its text.
fn value(result: &ToolResult) -> Value {
    match &result.structured {
        Some(value) => value.value().clone(),
        None => Value::String(result.to_text()),
    }
}
