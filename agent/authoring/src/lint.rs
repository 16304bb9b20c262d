//! `lint`

mod page;
mod report;

use std::str::FromStr;

use agent::Selection;
use host::{
    Argument, ArgumentRule, Arguments, Command, CommandContext, CommandGroup, Exit, ValueForm,
    program,
};
use tools::lint::{Lint, Severity};

use self::report::ToolReport;
use crate::error::AuthoringError;

pub(crate) const LINT: Command = Command {
    about: "Check the linked tools against the house rules and the formats of all services, and count their tokens",
    details: "Runs the examples of pure tools that need no services. Exits with 1 if there is an error.",
    group: CommandGroup::MakeTools,
    rank: 70,
    examples: "lint                                  # Check all tools
               lint fs.read                          # Show every finding about a tool
               lint --select 'my.*' --deny warnings  # Fail in CI for warnings too",
    arguments: &[
        Argument::value::<String>(
            ValueForm::Any,
            "names",
            "NAMES",
            "The names of tools to show in detail",
        ),
        Argument::value::<String>(
            ValueForm::NamedMany,
            "select",
            "GLOB",
            "Select tools by name, such as 'fs.*'; '!fs.write' excludes; repeatable",
        ),
        Argument::value::<Denied>(
            ValueForm::Named,
            "deny",
            "FINDINGS",
            "Exit with 1 for these findings too: `warnings`",
        ),
        Argument::Flag {
            name: "long",
            short: Some('l'),
            help: "Show each tool in detail: every finding, and its form in each format",
        },
        Argument::flag("json", "Print the tools as JSON, one document per line"),
    ],
    rules: &[
        ArgumentRule::Conflicts("select", "names"),
        ArgumentRule::Conflicts("long", "json"),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(lint(arguments, cx).await?) })),
    ..Command::new("lint")
};

/// The findings that `--deny` makes errors.
struct Denied;

impl FromStr for Denied {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "warnings" => Ok(Self),
            _ => Err("write `warnings`"),
        }
    }
}

fn exit(reports: &[ToolReport], denies_warnings: bool) -> Exit {
    let worst = reports.iter().filter_map(ToolReport::worst);
    match worst.map(|fault| fault.severity).max() {
        Some(Severity::Error) => Exit::Failed,
        Some(Severity::Warning) if denies_warnings => Exit::Failed,
        _ => Exit::Success,
    }
}

async fn lint(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, AuthoringError> {
    let catalog = tools::snapshot();
    let entries = catalog.list();
    let mut names: Vec<String> = arguments.values("names")?;
    for name in &mut names {
        let present = catalog.names();
        if !present.iter().any(|present| present.as_str() == name) {
            *name = catalog.get(name)?.name().to_string();
        }
    }
    let globs: Vec<String> = arguments.values("select")?;
    let selection = Selection::parse(&globs)?;
    let mut has_unmatched = false;
    for pattern in selection.unmatched(&entries) {
        cx.warn(&format!(
            "no tool matches {pattern}; run {} list to see all names",
            program::name()
        ));
        has_unmatched = true;
    }
    // Names are compared with those of all tools, so all are checked.
    let faults = Lint::default().check(&catalog).await;
    let mut reports = report::reports(&entries, faults);
    reports.retain(|report| match &report.entry {
        _ if !names.is_empty() => names.contains(&report.tool),
        Some(entry) => selection.matches(entry),
        None => globs.is_empty(),
    });
    if arguments.is_given("json") {
        reports
            .iter()
            .try_for_each(|report| cx.write_json(&report.document()))?;
    } else {
        let is_long = arguments.is_given("long") || !names.is_empty();
        cx.write_page(&page::page(&reports, is_long, cx.width()))?;
    }
    let denies_warnings = arguments.is_given("deny");
    Ok(if has_unmatched && denies_warnings {
        Exit::Failed
    } else {
        exit(&reports, denies_warnings)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tools::protocol::Example;
    use tools::protocol::wire::Format;
    use tools::{Catalog, Effects, Tool, ToolContext};

    use super::*;

    mod one {
        /// Is declared twice.
        #[tools::tool(name = "twin", pure)]
        fn twin() -> String {
            String::new()
        }
    }

    mod other {
        /// Is declared twice.
        #[tools::tool(name = "twin", pure)]
        fn twin() -> String {
            String::new()
        }
    }

    /// Lacks a description of its field.
    #[derive(serde::Deserialize, tools::JsonSchema)]
    #[schemars(crate = "tools::schemars")]
    struct Undescribed {
        #[allow(dead_code)]
        field: String,
    }

    /// Cannot be built.
    #[tools::tool(name = "unbuilt", pure)]
    fn unbuilt(#[args] _arguments: Undescribed) -> String {
        String::new()
    }

    /// Returns the reports about a catalog with one good tool and these.
    fn reports(tools: impl IntoIterator<Item = Tool>) -> Vec<ToolReport> {
        let mut catalog = Catalog::new();
        for tool in std::iter::once(good("text.good")).chain(tools) {
            catalog
                .register(tool, async |_: ToolContext, _: Value| Ok::<_, String>(()))
                .unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        report::reports(
            &catalog.list(),
            runtime.block_on(Lint::default().check(&catalog)),
        )
    }

    fn good(name: &str) -> Tool {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let tool = Tool::new(name, "Does it.", schema).unwrap();
        tool.with_effects(Effects::Pure)
            .with_example(Example::new(json!({})))
    }

    fn shown(reports: &[ToolReport], is_long: bool) -> String {
        anstream::adapter::strip_str(&page::page(reports, is_long, 80)).to_string()
    }

    #[test]
    fn the_worst_finding_decides_the_exit_and_comes_first() {
        let kept = reports([]);
        assert_eq!(exit(&kept, true), Exit::Success);

        let vague = Tool {
            description: "does it".to_owned(),
            ..good("text.vague")
        };
        let warned = reports([vague.clone()]);
        assert_eq!(
            [false, true].map(|denies| exit(&warned, denies)),
            [Exit::Success, Exit::Failed]
        );

        let mut broken = Tool {
            name: "text.broken".parse().unwrap(),
            ..vague
        };
        broken.parameters["enum"] = json!([1]);
        let failed = reports([broken]);
        assert_eq!(exit(&failed, false), Exit::Failed);
        let page = shown(&failed, false);
        let line = page
            .lines()
            .find(|line| line.starts_with("text.broken"))
            .unwrap();
        assert!(
            line.contains("error: ") && page.contains("warning"),
            "{page}"
        );
    }

    #[test]
    fn a_tool_in_detail_has_every_finding_and_the_reason_that_it_is_not_sent_or_not_strict() {
        let mut broken = good("text.broken");
        broken.description = "does it".to_owned();
        let mut open = good("math_gcd");
        open.parameters = json!({"properties": {"a": {}}});
        let mut reports = reports([broken, open, good("math.gcd")]);
        // No definition that can be registered is refused today.
        reports[0].wires[0].form = Err("it nests too deep".to_owned());
        let page = shown(&reports, true);
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "openai-chat not sent: it nests too deep",
            "is not a sentence",
            "not strict: /properties/a accepts values of any type",
            "the root: type is object",
            "confuse the name with math.gcd",
            "confuse the name with math_gcd",
            "math__gcd, ",
        ] {
            assert!(words.contains(part), "{part:?} is not in {page}");
        }
        let table = shown(&reports, false);
        assert!(
            table
                .lines()
                .any(|line| line.starts_with("math_gcd") && line.contains(" no ")),
            "{table}"
        );
    }

    #[test]
    fn examples_cost_tokens_where_a_session_sends_them() {
        let tokens = |tool: Tool| {
            let reports = reports([Tool {
                name: "text.other".parse().unwrap(),
                ..tool
            }]);
            let forms = reports
                .iter()
                .find(|report| report.tool == "text.other")
                .unwrap()
                .forms();
            forms
                .map(|(format, form)| (format, form.tokens.count))
                .collect::<Vec<_>>()
        };
        let bare = tokens(Tool {
            examples: Vec::new(),
            ..good("text.other")
        });
        for ((format, without), (_, with)) in bare.into_iter().zip(tokens(good("text.other"))) {
            assert_eq!(
                with > without,
                format == Format::Anthropic,
                "{format}: {without} and {with}"
            );
        }
    }

    #[test]
    fn a_tool_that_cannot_be_built_has_a_report_too() {
        let catalog = Catalog::linked();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let reports = report::reports(
            &catalog.list(),
            runtime.block_on(Lint::default().check(&catalog)),
        );
        for name in ["twin", "unbuilt"] {
            let report = reports.iter().find(|report| report.tool == name).unwrap();
            assert!(report.entry.is_none() && report.wires.is_empty(), "{name}");
            assert_eq!(report.worst().unwrap().severity, Severity::Error);
        }
        assert_eq!(exit(&reports, false), Exit::Failed);
        assert!(shown(&reports, true).contains("lint.rs:"));
    }
}
