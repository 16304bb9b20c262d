//! The rules of examples.

use serde_json::{Value, json};
use tools::protocol::Example;
use tools::{Catalog, Effects, Host, Submission, Tool, ToolContext, tool};
use tools_testkit::{Fault, HouseRules, LintRule};

use crate::broken;

fn check(submission: &'static Submission) -> Vec<Fault> {
    HouseRules::new().check(&[submission])
}

#[test]
fn there_is_an_example() {
    let faults = check(&broken::NO_EXAMPLE_TOOL);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Example,
        "{faults:?}"
    );
}

#[test]
fn every_invalid_example_is_reported() {
    let faults = check(&broken::INVALID_EXAMPLES_TOOL);
    assert!(
        faults.iter().all(|fault| fault.rule == LintRule::Example),
        "{faults:?}"
    );
    let messages: Vec<_> = faults.iter().map(|fault| &*fault.message).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(
        messages[0].starts_with("example 2 of text.a does not validate: "),
        "{messages:?}"
    );
    assert!(
        messages[1].starts_with("example 3 of text.a does not validate: at `/text`"),
        "{messages:?}"
    );
}

#[test]
fn examples_of_pure_tools_have_their_declared_results() {
    let faults = check(&broken::OTHER_RESULT_TOOL);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Example,
        "{faults:?}"
    );
    assert_eq!(
        faults[0].message,
        "example 1 declares the result 2, but the tool returned 1"
    );
    let faults = check(&broken::FAILING_TOOL);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Example,
        "{faults:?}"
    );
    assert!(
        faults[0].message.starts_with("example 1 fails: ")
            && faults[0].message.contains("there is no text")
    );
}

#[test]
fn two_runs_of_a_pure_tool_have_the_same_result() {
    let faults = check(&broken::IMPURE_TOOL);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Effects,
        "{faults:?}"
    );
    assert!(
        faults[0].message.contains("declare what it reads"),
        "{}",
        faults[0]
    );
}

#[test]
fn examples_of_other_tools_do_not_run() {
    assert_eq!(check(&broken::NOT_PURE_TOOL), []);
}

#[test]
fn results_fit_the_output_schema() {
    let parameters = json!({"type": "object", "additionalProperties": false});
    let rules = |example: Example| {
        let tool = Tool::new("text.a", "Measures.", parameters.clone()).unwrap();
        let tool = tool
            .with_effects(Effects::Pure)
            .with_output(json!({"type": "string"}))
            .with_example(example);
        let mut catalog = Catalog::new();
        catalog
            .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(1))
            .unwrap();
        HouseRules::new()
            .check(catalog)
            .into_iter()
            .map(|fault| fault.rule)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rules(Example::new(json!({}))),
        [LintRule::Output],
        "the returned result"
    );
    assert_eq!(
        rules(Example::new(json!({})).with_result(json!(1))),
        [LintRule::Example],
        "the declared result"
    );
}

/// The service of the next tool.
struct Factor(u32);

/// Multiplies.
#[tool(name = "text.scaled", pure, needs = Factor, example({} => 6))]
fn scaled(cx: &ToolContext) -> Result<u32, tools::ToolError> {
    Ok(cx.need::<Factor>()?.0 * 2)
}

#[tokio::test]
async fn examples_run_in_the_given_context_also_from_an_async_test() {
    let cx = Host::new().with_service(Factor(3));
    HouseRules::new().with_host(cx).assert(&[&SCALED_TOOL]);
    let faults = check(&SCALED_TOOL);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Example,
        "{faults:?}"
    );
}
