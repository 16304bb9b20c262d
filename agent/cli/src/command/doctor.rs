//! `toolcrib doctor`

mod skipped;

use std::path::PathBuf;

use agent::provider;
use clap::Args;
use host::{FamilyReport, Finding};
use tools::Services;

use self::skipped::{unmet, unsent};
use crate::config::{ConfigOptions, Settings, SettingsError, Values};
use crate::disclosure;
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::linked;
use crate::notice::{BAD, GOOD, STRONG, styled};
use crate::output;
use crate::provider_choice::ProviderChoice;
use crate::root::RootOption;
use crate::session;
use crate::visible::visible;

/// Check the linked tools and providers: links, name conflicts, definitions, the settings, the root, missing services and the formats of model services
///
/// Exits with 8 if there is a finding.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,

    /// Print the findings and the MCP servers as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let workspace = self.root.workspace().ok().map(PathBuf::from);
        host::recover(workspace.as_deref());
        let with_root = |settings| {
            workspace
                .iter()
                .cloned()
                .fold(settings, Settings::with_root)
        };
        let settings = self.config.settings(Values::default()).map(with_root);
        let (found, default) = (settings.as_ref().ok(), with_root(Settings::default()));
        let session = Session::new(&self.root, found.unwrap_or(&default)).await;
        let mut findings = session.findings(found.unwrap_or(&default));
        let reported = match settings {
            Ok(settings) => session.facts(&settings).await,
            Err(error) => Err(error),
        };
        let (facts, families) = match reported {
            Ok(reported) => reported,
            Err(error) => {
                findings.push(Finding::new("settings", error.to_string()));
                // The files of a family may have mistakes of their own.
                let families = host::reports(&default, None).await;
                (Vec::new(), families.unwrap_or_default())
            }
        };
        findings.extend(
            families
                .iter()
                .flat_map(|report| report.findings.iter().cloned()),
        );
        if self.json {
            findings.iter().try_for_each(output::json)?;
            families
                .iter()
                .flat_map(|report| &report.documents)
                .try_for_each(output::json)?;
        } else {
            let absent: Vec<_> = families.iter().filter_map(|report| report.absent).collect();
            let lines = report(&findings, &absent).into_iter().chain(facts);
            let width = output::width();
            output::page(
                &lines
                    .map(|line| fit::hanging(&line, width, "", "  "))
                    .collect::<String>(),
            )?;
        }
        Ok(if findings.is_empty() {
            Exit::Success
        } else {
            Exit::Problems
        })
    }
}

/// A session without flags, as far as it can be opened.
struct Session {
    services: Result<Services, Error>,
}

impl Session {
    async fn new(root: &RootOption, settings: &Settings) -> Self {
        let services = root.services(settings);
        Self { services }
    }

    fn findings(&self, settings: &Settings) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Err(error) = linked::check() {
            findings.push(Finding::new("link", error.to_string()));
        }
        findings.extend(tools::conflicts().iter().map(|conflict| {
            Finding::new(
                "conflict",
                format!("{conflict}; unlink or rename one of them"),
            )
            .for_tool(&conflict.name)
        }));
        findings.extend(tools::problems().iter().map(|problem| {
            let message = format!("{} (declared by {})", problem.error, problem.source);
            Finding::new("definition", message).for_tool(&problem.name)
        }));
        findings.extend(provider::conflicts().iter().map(|conflict| {
            Finding::new(
                "conflict",
                format!("{conflict}; unlink or rename one of them"),
            )
            .for_provider(conflict.name)
        }));
        if let Err(error) = session::check_model(settings, None) {
            let check = if matches!(error, Error::Config(_)) {
                "settings"
            } else {
                "provider"
            };
            findings.push(Finding::new(check, error.to_string()));
        }
        findings.extend(host::faults());
        findings.extend(super::family::findings());
        match &self.services {
            Ok(services) => {
                findings.extend(unmet(services));
                findings.extend(unsent(services));
            }
            Err(error @ Error::Config(SettingsError::Service(_))) => {
                findings.push(Finding::new("root", error.to_string()));
            }
            // The mistake of a setting is a finding of its own.
            Err(Error::Config(_)) => {}
            Err(error) => findings.push(Finding::new("root", error.to_string())),
        }
        findings
    }

    /// Returns the lines on the provider and the families, and the reports of the latter.
    async fn facts(
        &self,
        settings: &Settings,
    ) -> Result<(Vec<String>, Vec<FamilyReport>), SettingsError> {
        let families = host::reports(settings, self.services.as_ref().ok()).await?;
        let choice = ProviderChoice::from_settings(settings);
        let provider = format!(
            "provider: {}",
            choice.note.clone().unwrap_or_else(|| choice.to_string())
        );
        let lines = std::iter::once(provider)
            .chain(disclosure::report(self.services.as_ref().ok(), settings))
            .chain(
                families
                    .iter()
                    .flat_map(|report| report.lines.iter().cloned()),
            );
        Ok((
            lines.map(|line| visible(&line).into_owned()).collect(),
            families,
        ))
    }
}

/// Returns a line for each finding.
fn report(findings: &[Finding], absent: &[&str]) -> Vec<String> {
    if findings.is_empty() {
        let but = absent
            .iter()
            .map(|tool| format!("; {tool} is not available, see below"))
            .collect::<String>();
        return vec![format!(
            "{}: {} tools, no problems{but}",
            styled(GOOD, "ok"),
            tools::list().len()
        )];
    }
    let line = |Finding {
                    check,
                    tool,
                    provider,
                    message,
                    ..
                }: &Finding| {
        let name = tool.as_deref().or(provider.as_deref());
        let name = name
            .map(|name| format!("{}: ", styled(STRONG, visible(name))))
            .unwrap_or_default();
        format!("{}: {name}{}", styled(BAD, check), visible(message))
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::provider::inventory;
    use agent::{Direct, ProviderSubmission};
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

    async fn findings() -> Vec<Finding> {
        Session::new(&RootOption::default(), &Settings::default())
            .await
            .findings(&Settings::default())
    }

    #[tokio::test]
    async fn a_conflict_names_both_places() {
        let findings = findings().await;
        let conflicts: Vec<_> = findings
            .iter()
            .filter(|finding| finding.check == "conflict")
            .filter(|finding| finding.tool.is_some() || finding.provider.is_some())
            .collect();
        let [of_tool, of_provider] = &conflicts[..] else {
            panic!("{conflicts:?}")
        };
        assert_eq!(
            (of_tool.tool.as_deref(), of_tool.provider.as_deref()),
            (Some("twin"), None)
        );
        assert_eq!(
            (of_provider.tool.as_deref(), of_provider.provider.as_deref()),
            (None, Some("twin"))
        );
        for finding in conflicts {
            assert_eq!(
                finding.message.matches("doctor.rs:").count(),
                2,
                "{finding:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_provider_that_cannot_be_named_is_a_finding() {
        let findings = findings().await;
        let finding = findings
            .iter()
            .find(|finding| finding.provider.as_deref() == Some("no name"))
            .unwrap();
        assert_eq!(finding.check, "definition");
        assert!(
            finding.message.contains("use letters, digits"),
            "{finding:?}"
        );
    }

    #[tokio::test]
    async fn a_finding_is_printed_with_its_name_and_decides_the_exit() {
        let conflict =
            Finding::new("conflict", "is declared twice".to_owned()).for_provider("twin");
        let report = report(&[conflict], &[]).concat();
        assert!(
            report.contains("twin") && report.contains("is declared twice"),
            "{report:?}"
        );
        let [usual, without_speech] =
            [&[][..], &["tts.speak"]].map(|absent| super::report(&[], absent).concat());
        assert!(
            usual.ends_with("no problems") && without_speech.contains("tts.speak is not available"),
            "{without_speech:?}"
        );
        assert_eq!(
            DoctorArgs {
                root: RootOption::default(),
                config: ConfigOptions::none(),
                json: true
            }
            .run()
            .await
            .unwrap(),
            Exit::Problems
        );
    }

    #[tokio::test]
    async fn a_definition_that_cannot_be_built_is_a_finding() {
        let findings = findings().await;
        let finding = findings
            .iter()
            .find(|finding| finding.check == "definition")
            .unwrap();
        assert_eq!(finding.tool.as_deref(), Some("unbuilt"));
        assert!(finding.message.contains("`field`"), "{finding:?}");
    }
}
