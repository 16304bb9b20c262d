//! `toolcrib doctor`

mod skipped;

use std::path::PathBuf;

use agent::provider;
use clap::Args;
use host::{Exit, FamilyReport, Finding, fit};
use terminal::stdout;
use tools::{Services, counted};

use self::skipped::{unmet, unsent};
use crate::config::{ConfigOptions, ProgramSettings as _, Settings, SettingsError, Values};
use crate::error::Error;
use crate::notice::{BAD, GOOD, STRONG, paint};
use crate::provider_choice::ProviderChoice;
use crate::root::RootOption;
use crate::{disclosure, linked, no_provider, output, session};
use tools::visible::visible;

/// The command that lists all settings.
const SETTINGS_FIX: &str = "config --help";

/// Check the linked tools and providers: links, name conflicts, definitions, the settings, the root, missing services and the formats of model services
///
/// Begins with the problems, each with a command that repairs it or shows more. Exits with 8 if there is one.
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
        // A mistake in the settings must not hide the problems of everything else.
        let found = settings.as_ref().ok();
        let default = with_root(Settings::default());
        let shown = found.unwrap_or(&default);
        let services = self.root.services(shown);
        let mut findings = find_problems(shown, &services);
        let reported = match settings {
            Ok(settings) => facts(&settings, services.as_ref().ok()).await,
            Err(error) => Err(error),
        };
        let (facts, families) = match reported {
            Ok(reported) => reported,
            Err(error) => {
                let finding = Finding::new("settings", error.to_string());
                findings.push(finding.with_fix(SETTINGS_FIX));
                // The files of a family may have mistakes of their own.
                let families = host::reports(&default, None).await;
                (Vec::new(), families.unwrap_or_default())
            }
        };
        findings.extend(families.iter().flat_map(|report| report.findings.clone()));
        if self.json {
            findings.iter().try_for_each(output::json)?;
            let mut documents = families.iter().flat_map(|report| &report.documents);
            documents.try_for_each(output::json)?;
        } else {
            let absent: Vec<_> = families.iter().filter_map(|report| report.absent).collect();
            let facts = facts.iter().map(|line| match line.strip_prefix("  ") {
                Some(command) => format!("  {command}\n"),
                None => wrap(line),
            });
            let lines = report(&findings, &absent).into_iter().chain(facts);
            stdout::page(&lines.collect::<String>())?;
        }
        Ok(Exit::Problems.when(!findings.is_empty()))
    }
}

/// Returns the findings about the linked crates, the model and the services of a session without flags.
fn find_problems(settings: &Settings, services: &Result<Services, Error>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Err(error) = linked::check() {
        findings.push(Finding::new("link", error.to_string()));
    }
    for conflict in tools::conflicts() {
        let finding = Finding::conflict(&conflict).for_tool(&conflict.name);
        findings.push(finding.with_fix("list --long"));
    }
    for problem in tools::problems() {
        let message = format!("{} (declared by {})", problem.error, problem.source);
        let finding = Finding::new("definition", message).for_tool(&problem.name);
        findings.push(finding.with_fix("lint"));
    }
    for conflict in provider::conflicts() {
        findings.push(Finding::conflict(&conflict).for_provider(conflict.name));
    }
    for problem in provider::problems() {
        let finding = Finding::new("definition", problem.to_string());
        findings.push(finding.for_provider(problem.name));
    }
    if let Err(error) = session::check_model(settings, None) {
        let (check, fix) = if matches!(error, Error::Config(_)) {
            ("settings", SETTINGS_FIX)
        } else {
            ("provider", "providers")
        };
        findings.push(Finding::new(check, error.to_string()).with_fix(fix));
    }
    findings.extend(host::faults());
    findings.extend(super::family::findings());
    match services {
        Ok(services) => {
            findings.extend(unmet(services));
            findings.extend(unsent(services));
        }
        // The mistake of a setting is a finding of its own.
        Err(Error::Config(error)) if !matches!(error, SettingsError::Service(_)) => {}
        Err(error) => {
            let finding = Finding::new("root", error.to_string());
            findings.push(finding.with_fix("doctor --root DIR"));
        }
    }
    findings
}

/// Returns the lines on the provider and the families, and the reports of the latter.
async fn facts(
    settings: &Settings,
    services: Option<&Services>,
) -> Result<(Vec<String>, Vec<FamilyReport>), SettingsError> {
    let families = host::reports(settings, services).await?;
    let choice = ProviderChoice::from_settings(settings);
    let provider = choice.note.clone().unwrap_or_else(|| choice.to_string());
    let mut lines = vec![format!("provider: {provider}")];
    if settings.program().provider.is_none() {
        lines.extend(no_provider::steps());
    }
    lines.extend(disclosure::report(services, settings));
    lines.extend(families.iter().flat_map(|report| report.lines.clone()));
    let lines = lines.iter().map(|line| visible(line).into_owned());
    Ok((lines.collect(), families))
}

/// Returns a line with further ones below it, which are indented.
fn wrap(line: &str) -> String {
    fit::hanging(line, stdout::width(), "", "  ")
}

/// Returns the lines of each finding. A command stays whole, because a shell runs each line of one that is broken.
fn report(findings: &[Finding], absent: &[&str]) -> Vec<String> {
    if findings.is_empty() {
        let but = absent.iter();
        let but: String = but
            .map(|tool| format!("; {tool} is not available, see below"))
            .collect();
        let count = tools::list().len();
        let ok = paint(GOOD, "ok");
        return vec![wrap(&format!("{ok}: {count} tools, no problems{but}"))];
    }
    let count = counted(findings.len() as u64, "problem");
    let lines = findings.iter().flat_map(|finding| {
        let name = finding.tool.as_deref().or(finding.provider.as_deref());
        let name = name.map(|name| format!("{}: ", paint(STRONG, visible(name))));
        let check = paint(BAD, finding.check);
        let name = name.unwrap_or_default();
        let line = format!("{check}: {name}{}", visible(&finding.message));
        let fix = finding.fix.iter();
        let fix = fix.map(|fix| format!("fix: {}\n", paint(STRONG, visible(fix))));
        [wrap(&line)].into_iter().chain(fix)
    });
    [wrap(&paint(BAD, count))]
        .into_iter()
        .chain(lines)
        .collect()
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
        let settings = Settings::default();
        find_problems(&settings, &RootOption::default().services(&settings))
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
            usual.ends_with("no problems\n")
                && without_speech.contains("tts.speak is not available"),
            "{without_speech:?}"
        );
        assert_eq!(
            DoctorArgs {
                root: RootOption::default(),
                config: ConfigOptions {
                    no_config: true,
                    ..ConfigOptions::default()
                },
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
