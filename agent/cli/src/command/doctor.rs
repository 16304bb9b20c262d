//! `toolcrib doctor`

use clap::Args;
use serde::Serialize;
use tools::Services;

use crate::error::Error;
use crate::exit::Exit;
use crate::host::RootOption;
use crate::linked;
use crate::output::{self, BAD, GOOD, STRONG, styled};
use crate::visible::visible;

/// Check the linked tools: conflicts, links, needs that nothing meets, schemas
///
/// Exits with 8 when there is a finding.
#[derive(Args, Debug)]
pub(super) struct Doctor {
    #[command(flatten)]
    root: RootOption,

    /// Print one JSON document per finding and line
    #[arg(long)]
    json: bool,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
struct Finding {
    /// What was checked: `link`, `conflict`, `definition`, `root` or `need`.
    check: &'static str,
    /// The tool, where it is one tool's trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    message: String,
}

impl Doctor {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let findings = self.findings();
        if self.json {
            findings.iter().try_for_each(output::json)?;
        } else {
            output::page(&report(&findings))?;
        }
        Ok(if findings.is_empty() { Exit::Success } else { Exit::Problems })
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Err(error) = linked::check() {
            findings.push(Finding { check: "link", tool: None, message: error.to_string() });
        }
        findings.extend(tools::conflicts().into_iter().map(|conflict| Finding {
            check: "conflict",
            tool: Some(conflict.name.to_string()),
            message: format!("{conflict}; unlink or rename one of them"),
        }));
        findings.extend(tools::problems().into_iter().map(|problem| Finding {
            check: "definition",
            message: format!("{} (declared by {})", problem.error, problem.source),
            tool: Some(problem.name),
        }));
        match self.root.services() {
            Ok(services) => findings.extend(unmet(&services)),
            Err(error) => findings.push(Finding { check: "root", tool: None, message: error.to_string() }),
        }
        findings
    }
}

/// The tools that find something missing here.
fn unmet(services: &Services) -> Vec<Finding> {
    let finding = |entry: &tools::Entry| {
        let missing: Vec<_> = services.unmet(entry.needs()).iter().map(|need| need.type_name()).collect();
        (!missing.is_empty()).then(|| Finding {
            check: "need",
            tool: Some(entry.name().to_string()),
            message: format!(
                "needs {}, which this program does not offer; sessions leave the tool out",
                missing.join(" and ")
            ),
        })
    };
    tools::list().iter().filter_map(|entry| finding(entry)).collect()
}

fn report(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!("{}: {} tools, no problems\n", styled(GOOD, "ok"), tools::list().len());
    }
    let mut report = String::new();
    for Finding { check, tool, message } in findings {
        let tool = tool.as_deref().map(|tool| format!("{}: ", styled(STRONG, visible(tool)))).unwrap_or_default();
        report += &format!("{}: {tool}{}\n", styled(BAD, check), visible(message));
    }
    report
}

#[cfg(test)]
mod tests {
    use tools::tool;

    use super::*;

    mod one {
        use super::tool;

        /// Is declared twice.
        #[tool(name = "twin", pure)]
        fn twin() -> String {
            String::new()
        }
    }

    mod other {
        use super::tool;

        /// Is declared twice.
        #[tool(name = "twin", pure)]
        fn twin() -> String {
            String::new()
        }
    }

    /// Lacks a description of what it takes.
    #[derive(serde::Deserialize, tools::JsonSchema)]
    #[schemars(crate = "tools::schemars")]
    struct Undescribed {
        #[allow(dead_code)]
        field: String,
    }

    /// Cannot be built.
    #[tool(name = "unbuilt", pure)]
    fn unbuilt(#[args] _arguments: Undescribed) -> String {
        String::new()
    }

    fn findings() -> Vec<Finding> {
        Doctor { root: RootOption::default(), json: false }.findings()
    }

    #[test]
    fn a_conflict_names_both_places() {
        let findings = findings();
        let finding = findings.iter().find(|finding| finding.check == "conflict").unwrap();
        assert_eq!(finding.tool.as_deref(), Some("twin"));
        assert_eq!(finding.message.matches("doctor.rs:").count(), 2, "{finding:?}");
    }

    #[test]
    fn a_definition_that_cannot_be_built_is_a_finding() {
        let findings = findings();
        let finding = findings.iter().find(|finding| finding.check == "definition").unwrap();
        assert_eq!(finding.tool.as_deref(), Some("unbuilt"));
        assert!(finding.message.contains("`field`"), "{finding:?}");
    }

    #[cfg(feature = "builtin")]
    #[test]
    fn a_need_that_nothing_meets_is_a_finding() {
        let findings = unmet(&Services::new());
        let finding = findings.iter().find(|finding| finding.tool.as_deref() == Some("fs.read")).unwrap();
        assert!(finding.message.contains("Workspace"), "{finding:?}");
    }
}
