//! `toolcrib lint`

mod page;
mod report;

use agent::Selection;
use clap::{Args, ValueEnum};
use tools::Catalog;
use tools::lint::{Lint, Severity};

use self::report::ToolReport;
use crate::error::Error;
use crate::exit::Exit;
use crate::notice;
use crate::output;

/// Check the linked tools against the house rules and the formats of all services, and count their tokens
///
/// Runs the examples of pure tools that need no services. Exits with 1 if there is an error.
#[derive(Args, Debug)]
pub(super) struct LintArgs {
    /// The names of tools to show in detail
    names: Vec<String>,

    /// Select tools by name, such as 'fs.*'; '!fs.write' excludes; repeatable
    #[arg(long, value_name = "GLOB", conflicts_with = "names")]
    select: Vec<String>,

    /// Exit with 1 for these findings too
    #[arg(long, value_name = "FINDINGS")]
    deny: Option<Denied>,

    /// Show each tool in detail: every finding, and its form in each format
    #[arg(short, long, conflicts_with = "json")]
    long: bool,

    /// Print the tools as JSON, one document per line
    #[arg(long)]
    json: bool,
}

/// The findings that `--deny` makes errors.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Denied {
    Warnings,
}

fn exit(reports: &[ToolReport], denied: Option<Denied>) -> Exit {
    match reports
        .iter()
        .filter_map(ToolReport::worst)
        .map(|fault| fault.severity)
        .max()
    {
        Some(Severity::Error) => Exit::Failed,
        Some(Severity::Warning) if denied.is_some() => Exit::Failed,
        _ => Exit::Success,
    }
}

impl LintArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let catalog = tools::snapshot();
        let (is_chosen, has_unmatched) = self.chosen(&catalog)?;
        // Names are compared with those of all tools, so all are checked.
        let faults = Lint::new().check(&catalog).await;
        let mut reports = report::reports(&catalog.list(), faults);
        reports.retain(|report| is_chosen(report));
        if self.json {
            reports
                .iter()
                .try_for_each(|report| output::json(&report.document()))?;
        } else {
            let is_long = self.long || !self.names.is_empty();
            output::page(&page::page(&reports, is_long, output::width()))?;
        }
        let is_denied = has_unmatched && self.deny.is_some();
        Ok(if is_denied {
            Exit::Failed
        } else {
            exit(&reports, self.deny)
        })
    }

    /// Returns the filter of the names and globs, and true if a glob matches no tool.
    fn chosen(
        &self,
        catalog: &Catalog,
    ) -> Result<(impl Fn(&ToolReport) -> bool + use<>, bool), Error> {
        let mut names = self.names.clone();
        for name in names
            .iter_mut()
            .filter(|name| !catalog.names().iter().any(|present| present == &***name))
        {
            *name = catalog.get(name)?.name().to_string();
        }
        let selection = Selection::parse(&self.select)?;
        let has_unmatched = notice::warn_unmatched(&selection, &catalog.list());
        let selects_all = self.select.is_empty();
        let is_chosen = move |report: &ToolReport| match &report.entry {
            _ if !names.is_empty() => names.contains(&report.tool),
            Some(entry) => selection.matches(entry),
            None => selects_all,
        };
        Ok((is_chosen, has_unmatched))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tools::protocol::Example;
    use tools::protocol::wire::Format;
    use tools::{Effects, Tool, ToolContext};

    use super::*;

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
            runtime.block_on(Lint::new().check(&catalog)),
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
        assert_eq!(exit(&kept, Some(Denied::Warnings)), Exit::Success);

        let vague = Tool {
            description: "does it".to_owned(),
            ..good("text.vague")
        };
        let warned = reports([vague.clone()]);
        assert_eq!(
            [None, Some(Denied::Warnings)].map(|denied| exit(&warned, denied)),
            [Exit::Success, Exit::Failed]
        );

        let mut broken = Tool {
            name: "text.broken".parse().unwrap(),
            ..vague
        };
        broken.parameters["enum"] = json!([1]);
        let failed = reports([broken]);
        assert_eq!(exit(&failed, None), Exit::Failed);
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
        // `doctor` declares such tools.
        let catalog = Catalog::linked();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let reports = report::reports(
            &catalog.list(),
            runtime.block_on(Lint::new().check(&catalog)),
        );
        for name in ["twin", "unbuilt"] {
            let report = reports.iter().find(|report| report.tool == name).unwrap();
            assert!(report.entry.is_none() && report.wires.is_empty(), "{name}");
            assert_eq!(report.worst().unwrap().severity, Severity::Error);
        }
        assert_eq!(exit(&reports, None), Exit::Failed);
        assert!(shown(&reports, true).contains("doctor.rs:"));
    }
}
