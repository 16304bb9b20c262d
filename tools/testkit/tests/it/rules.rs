//! Each rule reports a tool that breaks it, and a good tool keeps them all.

use serde_json::{Value, json};
use tools::lint::Severity;
use tools::{Catalog, Effects, Limits, Submission, Tool, ToolContext};
use tools_testkit::{HouseRules, LintRule};

use crate::broken;

/// Returns the broken rules and the messages.
fn faults(submission: &'static Submission) -> Vec<(LintRule, String)> {
    let faults = HouseRules::new().with_prefix("text").check(&[submission]);
    assert!(
        faults.iter().all(|fault| fault.tool == submission.name),
        "{faults:?}"
    );
    assert!(
        faults
            .iter()
            .all(|fault| fault.source.as_ref() == Some(&submission.source)),
        "{faults:?}"
    );
    faults
        .into_iter()
        .map(|fault| (fault.rule, fault.message))
        .collect()
}

/// Asserts that a tool breaks exactly this rule.
#[track_caller]
fn breaks(submission: &'static Submission, rule: LintRule, part: &str) {
    let faults = faults(submission);
    assert!(
        faults.len() == 1 && faults[0].0 == rule && faults[0].1.contains(part),
        "{faults:?}"
    );
}

/// Returns the rules that a tool registered at run time breaks.
fn broken_at_run_time(tool: Tool) -> Vec<(LintRule, String)> {
    let mut catalog = Catalog::new();
    catalog
        .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))
        .unwrap();
    HouseRules::new()
        .check(catalog)
        .into_iter()
        .map(|fault| (fault.rule, fault.message))
        .collect()
}

fn run_time_tool(parameters: Value) -> Tool {
    let example = tools::protocol::Example::new(json!({}));
    Tool::new("text.a", "Measures.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
        .with_example(example)
}

fn closed() -> Value {
    json!({"type": "object", "additionalProperties": false})
}

#[test]
fn a_good_tool_keeps_all_rules() {
    HouseRules::new()
        .with_prefix("text")
        .assert(&[&broken::GOOD_TOOL]);
    assert_eq!(broken_at_run_time(run_time_tool(closed())), []);
}

#[test]
fn names_have_a_group_and_the_prefix() {
    breaks(
        &broken::UPPER_CASE_TOOL,
        LintRule::Name,
        "another form than `group.word`",
    );
    breaks(
        &broken::FOREIGN_TOOL,
        LintRule::Name,
        "does not begin with `text.`",
    );
    let rules: Vec<_> = faults(&broken::UNGROUPED_TOOL)
        .into_iter()
        .map(|(rule, _)| rule)
        .collect();
    assert_eq!(rules, [LintRule::Name, LintRule::Name]);
}

#[test]
fn a_name_is_submitted_once() {
    let faults = HouseRules::new().check(&[&broken::IMPURE_TOOL, &broken::OTHER_RESULT_TOOL]);
    let twice: Vec<_> = faults
        .iter()
        .filter(|fault| fault.rule == LintRule::Name)
        .collect();
    assert!(
        twice.len() == 1 && twice[0].message.contains("text.a exists"),
        "{faults:?}"
    );
    assert!(
        faults.iter().any(|fault| fault.rule == LintRule::Effects),
        "the first one is checked"
    );

    // This binary links all tools of `broken`.
    let faults = HouseRules::new().check(Catalog::linked());
    let conflict = faults
        .iter()
        .find(|fault| fault.rule == LintRule::Name && fault.tool == "text.a")
        .unwrap();
    assert!(conflict.source.is_some(), "{conflict:?}");
}

#[test]
fn names_differ_in_more_than_case_and_separators() {
    let mut catalog = Catalog::new();
    for name in ["text.a_b", "text.ab", "text.c"] {
        let tool = Tool {
            name: name.parse().unwrap(),
            ..run_time_tool(closed())
        };
        catalog
            .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))
            .unwrap();
    }
    let faults = HouseRules::new().check(catalog);
    let found: Vec<_> = faults
        .iter()
        .map(|fault| (&*fault.tool, fault.rule, fault.severity))
        .collect();
    assert_eq!(
        found,
        [
            ("text.a_b", LintRule::Name, Severity::Warning),
            ("text.ab", LintRule::Name, Severity::Warning)
        ]
    );
    assert!(faults[0].message.contains("with text.ab;"), "{faults:?}");
}

#[test]
fn descriptions_are_short_and_in_sentences() {
    breaks(
        &broken::NO_SENTENCE_TOOL,
        LintRule::Description,
        "is not a sentence",
    );
    breaks(
        &broken::LONG_SENTENCE_TOOL,
        LintRule::Description,
        "the first sentence of the description has 1",
    );
    let mut long = run_time_tool(closed());
    long.description = "Measures. ".repeat(200) + "Ends.";
    let faults = broken_at_run_time(long);
    assert!(
        faults.len() == 1 && faults[0].1.contains("the description has 2005 characters"),
        "{faults:?}"
    );
}

#[test]
fn descriptions_name_no_other_tool() {
    let mut other = run_time_tool(closed());
    other.name = "text.b".parse().unwrap();
    other.description = "Measures text.b as text.a does.".to_owned();
    let mut catalog = Catalog::new();
    for tool in [run_time_tool(closed()), other] {
        catalog
            .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))
            .unwrap();
    }
    let faults = HouseRules::new().check(catalog);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Description,
        "{faults:?}"
    );
    assert!(
        faults[0].tool == "text.b" && faults[0].message.contains("the tool text.a"),
        "{faults:?}"
    );
}

#[test]
fn schemas_are_closed_and_short() {
    let faults = broken_at_run_time(run_time_tool(json!({"type": "object"})));
    assert!(
        faults.len() == 1
            && faults[0].0 == LintRule::Schema
            && faults[0].1.contains("unknown arguments"),
        "{faults:?}"
    );
    let long = json!({"type": "object", "additionalProperties": false, "properties": {
        "text": {"type": "string", "description": format!("The {}text.", "long ".repeat(1_000))},
    }});
    let faults = broken_at_run_time(run_time_tool(long));
    assert!(
        faults.len() == 1 && faults[0].0 == LintRule::Schema && faults[0].1.contains(" bytes; "),
        "{faults:?}"
    );
}

#[test]
fn parameters_are_described() {
    breaks(
        &broken::TERSE_PARAMETER_TOOL,
        LintRule::Parameter,
        "`text` is not described in sentences",
    );
    breaks(
        &broken::UNDESCRIBED_FIELD_TOOL,
        LintRule::Parameter,
        "the nested field `end`",
    );
}

#[test]
fn definitions_are_built() {
    breaks(
        &broken::UNDESCRIBED_ARGUMENT_TOOL,
        LintRule::Parameter,
        "the argument `text`",
    );
    breaks(
        &broken::OPEN_ARGUMENTS_TOOL,
        LintRule::Schema,
        "accept unknown fields",
    );
    breaks(
        &broken::NO_DEFINITION_TOOL,
        LintRule::Definition,
        "there is no default",
    );
}

#[test]
fn effects_are_declared() {
    let faults = broken_at_run_time(run_time_tool(closed()).with_effects(Effects::Undeclared));
    assert!(
        faults.len() == 1 && faults[0].0 == LintRule::Effects && faults[0].1.contains("no effects"),
        "{faults:?}"
    );
}

#[test]
fn errors_of_registration_are_faults() {
    let register = |catalog: &mut Catalog| {
        let limits = Limits {
            max_concurrency: Some(0),
            ..Limits::default()
        };
        let handler = async |_: ToolContext, _: Value| Ok::<_, String>(());
        catalog
            .register(run_time_tool(closed()).with_limits(limits), handler)
            .map(drop)
    };
    let faults = HouseRules::new().check(register);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Limits && faults[0].tool == "text.a",
        "{faults:?}"
    );
    assert!(
        faults[0].to_string().starts_with("the limits of text.a"),
        "{}",
        faults[0]
    );
}

#[test]
fn schemas_compile() {
    let register = |catalog: &mut Catalog| {
        let tool = run_time_tool(
            json!({"type": "object", "additionalProperties": false, "minProperties": "many"}),
        );
        catalog
            .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))
            .map(drop)
    };
    let faults = HouseRules::new().check(register);
    assert!(
        faults.len() == 1 && faults[0].rule == LintRule::Schema,
        "{faults:?}"
    );
}

#[test]
fn a_waived_rule_is_not_reported() {
    HouseRules::new()
        .without(LintRule::Example)
        .assert(&[&broken::NO_EXAMPLE_TOOL]);
    assert_eq!(
        HouseRules::new()
            .without(LintRule::Name)
            .check(&[&broken::NO_EXAMPLE_TOOL])
            .len(),
        1
    );
}

#[test]
fn every_fault_of_every_tool_is_listed() {
    let all = std::panic::catch_unwind(|| {
        HouseRules::new()
            .with_prefix("note")
            .assert(&[&broken::UNGROUPED_TOOL, &broken::NO_SENTENCE_TOOL]);
    });
    let message = *all.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(message.lines().count(), 5, "{message}");
    assert!(
        message.starts_with("faults against the house rules (4):\nmeasure of toolcrib-testkit "),
        "{message}"
    );
}
