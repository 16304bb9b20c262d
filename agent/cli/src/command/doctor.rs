//! `toolcrib doctor`

use std::collections::{BTreeMap, BTreeSet};

use agent::{Selection, SkipReason, ToolSet, provider};
use clap::Args;
use serde::Serialize;
use tools::protocol::wire::{Format, Strictness};
use tools::{Services, ToolName};

use crate::config::{ConfigError, ConfigOptions, Settings, Values};
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::host::RootOption;
use crate::linked;
use crate::mcp;
use crate::notice::{BAD, GOOD, STRONG, styled};
use crate::output;
use crate::provider_choice::ProviderChoice;
use crate::visible::visible;
use crate::web;

/// Check the linked tools and providers: links, name conflicts, definitions, the settings, the root, missing services and the formats of model services
///
/// Exits with 8 if there is a finding.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,

    /// Print the findings as JSON, one document per line
    #[arg(long)]
    json: bool,
}

/// A problem.
#[derive(Debug, Serialize)]
struct Finding {
    /// The check that failed: `link`, `conflict`, `definition`, `settings`, `root`, `need` or `wire`.
    check: &'static str,
    /// The tool, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The provider, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    message: String,
}

impl DoctorArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let settings = self.config.settings(Values::default());
        let mut findings = self.findings(settings.as_ref().unwrap_or(&Settings::default()));
        let facts = settings.and_then(|settings| facts(&settings)).unwrap_or_else(|error| {
            findings.push(Finding::new("settings", error.to_string()));
            Vec::new()
        });
        if self.json {
            findings.iter().try_for_each(output::json)?;
        } else {
            let servers = mcp::report(&self.root).into_iter().map(|line| visible(&line).into_owned());
            let lines = report(&findings).into_iter().chain(facts).chain(servers);
            let width = output::width();
            output::page(&lines.map(|line| fit::hanging(&line, width, "", "  ")).collect::<String>())?;
        }
        Ok(if findings.is_empty() { Exit::Success } else { Exit::Problems })
    }

    fn findings(&self, settings: &Settings) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Err(error) = linked::check() {
            findings.push(Finding::new("link", error.to_string()));
        }
        findings.extend(tools::conflicts().iter().map(|conflict| {
            Finding::new("conflict", format!("{conflict}; unlink or rename one of them")).for_tool(&conflict.name)
        }));
        findings.extend(tools::problems().iter().map(|problem| {
            let message = format!("{} (declared by {})", problem.error, problem.source);
            Finding::new("definition", message).for_tool(&problem.name)
        }));
        findings.extend(provider::conflicts().iter().map(|conflict| {
            Finding::new("conflict", format!("{conflict}; unlink or rename one of them")).for_provider(conflict.name)
        }));
        findings.extend(
            provider::problems()
                .iter()
                .map(|problem| Finding::new("definition", problem.to_string()).for_provider(problem.name)),
        );
        findings.extend(web::faults().into_iter().map(|(check, message)| Finding::new(check, message)));
        match self.root.services(settings) {
            Ok(services) => {
                findings.extend(unmet(&services));
                findings.extend(unsent(&services));
            }
            // The mistake of a setting is a finding of its own.
            Err(Error::Config(_)) => {}
            Err(error) => findings.push(Finding::new("root", error.to_string())),
        }
        findings
    }
}

impl Finding {
    fn new(check: &'static str, message: String) -> Self {
        Self { check, tool: None, provider: None, message }
    }

    fn for_tool(self, name: impl ToString) -> Self {
        Self { tool: Some(name.to_string()), ..self }
    }

    fn for_provider(self, name: impl ToString) -> Self {
        Self { provider: Some(name.to_string()), ..self }
    }
}

/// Returns a finding for each tool with a missing service. A service that a setting would bring is none.
fn unmet(services: &Services) -> Vec<Finding> {
    let finding = |entry: &tools::Entry| {
        let missing: Vec<_> = (services.unmet(entry.needs()).iter())
            .filter(|need| services.absence(need).is_none())
            .map(|need| need.type_name())
            .collect();
        (!missing.is_empty()).then(|| {
            let missing = missing.join(" and ");
            let message = format!("needs {missing}, which this program does not provide; sessions skip the tool");
            Finding::new("need", message).for_tool(entry.name())
        })
    };
    tools::list().iter().filter_map(|entry| finding(entry)).collect()
}

/// Returns the findings on tools that requests leave out.
fn unsent(services: &Services) -> Vec<Finding> {
    let set = ToolSet::new(tools::list(), &Selection::new(), services);
    let skipped = Format::ALL.into_iter().flat_map(|format| set.wire(format, Strictness::Relaxed).skipped());
    unsent_findings(skipped.map(|tool| (&tool.name, &tool.reason)))
}

/// Returns a finding for each tool and reason, with all formats, and one for each format that takes fewer tools.
fn unsent_findings<'a>(skipped: impl Iterator<Item = (&'a ToolName, &'a SkipReason)>) -> Vec<Finding> {
    let mut formats = BTreeMap::<_, Vec<_>>::new();
    let (mut collisions, mut limits) = (BTreeSet::new(), BTreeMap::new());
    for (name, reason) in skipped {
        match reason {
            SkipReason::Unsendable { format, reason } => {
                formats.entry((name, reason.to_string())).or_default().push(format.name());
            }
            SkipReason::Collision(collision) => drop(collisions.insert((name, collision.to_string()))),
            SkipReason::RequestLimit { .. } => *limits.entry(reason.to_string()).or_insert(0) += 1,
            _ => {}
        }
    }
    let unsendable = formats.into_iter().map(|((name, reason), formats)| {
        let message = format!("it cannot be sent as {}: {reason}; requests leave the tool out", formats.join(", "));
        Finding::new("wire", message).for_tool(name)
    });
    let colliding = collisions
        .into_iter()
        .map(|(name, reason)| Finding::new("wire", format!("{reason}; requests leave the tool out")).for_tool(name));
    let limited = limits
        .into_iter()
        .map(|(reason, count)| Finding::new("wire", format!("{reason}; requests with all tools leave out {count}")));
    unsendable.chain(colliding).chain(limited).collect()
}

/// Returns the lines on the provider and the requests of a session without flags.
fn facts(settings: &Settings) -> Result<Vec<String>, ConfigError> {
    let choice = ProviderChoice::from_settings(settings);
    let provider = format!("provider: {}", choice.note.clone().unwrap_or_else(|| choice.to_string()));
    let lines = std::iter::once(provider).chain(programs()).chain(web::report(settings)?);
    Ok(lines.map(|line| visible(&line).into_owned()).collect())
}

/// Returns the lines on the confinement of programs.
#[cfg(feature = "builtin")]
fn programs() -> Vec<String> {
    tools_builtin::exec::walls::Layers::probe().to_string().lines().map(str::to_owned).collect()
}

#[cfg(not(feature = "builtin"))]
fn programs() -> Vec<String> {
    Vec::new()
}

/// Returns a line for each finding.
fn report(findings: &[Finding]) -> Vec<String> {
    if findings.is_empty() {
        return vec![format!("{}: {} tools, no problems", styled(GOOD, "ok"), tools::list().len())];
    }
    let line = |Finding { check, tool, provider, message }: &Finding| {
        let name = tool.as_deref().or(provider.as_deref());
        let name = name.map(|name| format!("{}: ", styled(STRONG, visible(name)))).unwrap_or_default();
        format!("{}: {name}{}", styled(BAD, check), visible(message))
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::provider::inventory;
    use agent::{Direct, ProviderSubmission};
    use tools::protocol::wire::schema::Unsendable;
    use tools::{source, tool};

    use super::*;

    inventory::submit! {
        ProviderSubmission {
            name: "twin",
            description: "is declared twice",
            source: source!(),
            service: |_| None,
            create: |_| Ok(Arc::new(Direct)),
        }
    }

    inventory::submit! {
        ProviderSubmission {
            name: "twin",
            description: "is declared twice",
            source: source!(),
            service: |_| None,
            create: |_| Ok(Arc::new(Direct)),
        }
    }

    inventory::submit! {
        ProviderSubmission {
            name: "no name",
            description: "cannot be named",
            source: source!(),
            service: |_| None,
            create: |_| Ok(Arc::new(Direct)),
        }
    }

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

    /// Lacks a description of its field.
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
        DoctorArgs { root: RootOption::default(), config: ConfigOptions::none(), json: false }
            .findings(&Settings::default())
    }

    #[test]
    fn a_conflict_names_both_places() {
        let findings = findings();
        let conflicts: Vec<_> = findings.iter().filter(|finding| finding.check == "conflict").collect();
        let [of_tool, of_provider] = &conflicts[..] else { panic!("{conflicts:?}") };
        assert_eq!((of_tool.tool.as_deref(), of_tool.provider.as_deref()), (Some("twin"), None));
        assert_eq!((of_provider.tool.as_deref(), of_provider.provider.as_deref()), (None, Some("twin")));
        for finding in conflicts {
            assert_eq!(finding.message.matches("doctor.rs:").count(), 2, "{finding:?}");
        }
    }

    #[test]
    fn a_provider_that_cannot_be_named_is_a_finding() {
        let findings = findings();
        let finding = findings.iter().find(|finding| finding.provider.as_deref() == Some("no name")).unwrap();
        assert_eq!(finding.check, "definition");
        assert!(finding.message.contains("use letters, digits"), "{finding:?}");
    }

    #[test]
    fn a_finding_is_printed_with_its_name_and_decides_the_exit() {
        let conflict = Finding::new("conflict", "is declared twice".to_owned()).for_provider("twin");
        let report = report(&[conflict]).concat();
        assert!(report.contains("twin") && report.contains("is declared twice"), "{report:?}");
        assert_eq!(
            DoctorArgs { root: RootOption::default(), config: ConfigOptions::none(), json: true }.run().unwrap(),
            Exit::Problems
        );
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
    fn tools_that_requests_leave_out_are_reported_once_per_reason() {
        let skipped = |name: &str, reason| (ToolName::new(name).unwrap(), reason);
        let refused = |format| SkipReason::Unsendable { format, reason: Unsendable::NotAnObject };
        let limit = || SkipReason::RequestLimit { format: Format::OpenAiChat, most: 128 };
        let skipped = [
            skipped("a", refused(Format::OpenAiChat)),
            skipped("a", refused(Format::Gemini)),
            skipped("b", refused(Format::Gemini)),
            skipped("y", limit()),
            skipped("z", limit()),
        ];
        let findings = unsent_findings(skipped.iter().map(|(name, reason)| (name, reason)));
        let tools: Vec<_> = findings.iter().map(|finding| finding.tool.as_deref()).collect();
        assert_eq!(tools, [Some("a"), Some("b"), None]);
        assert!(findings[0].message.contains("openai-chat, gemini"), "{}", findings[0].message);
        assert!(
            findings[2].message.contains("128") && findings[2].message.contains("out 2"),
            "{}",
            findings[2].message
        );
    }

    #[test]
    fn a_need_that_nothing_meets_is_a_finding() {
        let findings = unmet(&Services::new());
        let finding = findings.iter().find(|finding| finding.tool.as_deref() == Some("fs.read")).unwrap();
        assert!(finding.message.contains("Workspace"), "{finding:?}");
    }
}
