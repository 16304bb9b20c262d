//! `toolcrib lint`

mod page;
mod report;

use agent::Selection;
use clap::{Args, ValueEnum};
use tools::lint::{Lint, Severity};
use tools::Catalog;

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

impl LintArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let catalog = tools::snapshot();
        let is_chosen = self.chosen(&catalog)?;
        // Names are compared with those of all tools, so all are checked.
        let faults = Lint::new().check(&catalog).await;
        let mut reports = report::reports(&catalog.list(), faults);
        reports.retain(|report| is_chosen(report));
        if self.json {
            reports.iter().try_for_each(|report| output::json(&report.document()))?;
        } else {
            let is_long = self.long || !self.names.is_empty();
            output::page(&page::page(&reports, is_long, output::width()))?;
        }
        let worst = reports.iter().filter_map(ToolReport::worst).map(|fault| fault.severity).max();
        let is_denied = match worst {
            None => false,
            Some(Severity::Warning) => self.deny.is_some(),
            Some(Severity::Error) => true,
        };
        Ok(if is_denied { Exit::Failed } else { Exit::Success })
    }

    /// Returns the filter of the names and globs.
    fn chosen(&self, catalog: &Catalog) -> Result<impl Fn(&ToolReport) -> bool + use<>, Error> {
        let mut names = self.names.clone();
        for name in names.iter_mut().filter(|name| !catalog.names().iter().any(|present| present == &***name)) {
            *name = catalog.get(name)?.name().to_string();
        }
        let selection = Selection::parse(&self.select)?;
        notice::warn_unmatched(&selection, &catalog.list());
        let selects_all = self.select.is_empty();
        Ok(move |report: &ToolReport| match &report.entry {
            _ if !names.is_empty() => names.contains(&report.tool),
            Some(entry) => selection.matches(entry),
            None => selects_all,
        })
    }
}
