//! `toolcrib why`

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use tools::policy::{Reason, Rule, Ruling, Verdict};
use tools::{CancellationToken, Clause, Target};

use crate::argument;
use crate::config::{Origin, Settings, Values};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Exit;
use crate::host::{HostOptions, ProtectedFiles};
use crate::notice::{ALERT, BAD, FAINT, GOOD, STRONG, styled};
use crate::output;
use crate::shell;
use crate::visible::visible;

/// Explain whether a call of a model would be allowed, asked about or refused
///
/// Names the clause or rule that decides about each target, and the place that sets it. Runs nothing and needs no provider.
#[derive(Args, Debug)]
pub(super) struct WhyArgs {
    /// The tool's name
    name: String,

    /// An argument, converted by the tool's schema; repeatable
    #[arg(value_name = "KEY=VALUE", value_parser = argument::pair)]
    pairs: Vec<(String, String)>,

    /// All arguments as one JSON object; - reads it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, conflicts_with = "pairs")]
    args: Option<String>,

    #[command(flatten)]
    host: HostOptions,

    /// Print the explanation as one JSON document
    #[arg(long)]
    json: bool,
}

impl WhyArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let entry = tools::get(&self.name)?;
        let arguments = argument::arguments(&entry.tool().parameters, &self.pairs, self.args.as_deref())?;
        let targets = tools::call::validate(&entry, arguments)?;
        let settings = self.host.settings(Values::default())?;
        let console = Arc::new(Console::default());
        let cx = self.host.context(&settings, &ProtectedFiles::default(), CancellationToken::new(), &console)?;
        let rulings: Vec<_> = cx.rulings(entry.name(), &targets).collect();
        if self.json {
            output::json(&document(entry.name().as_str(), &rulings, &settings))?;
        } else {
            output::page(&page(entry.name().as_str(), &rulings, &settings))?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the verdict about the call: the strictest one about a target.
fn verdict(rulings: &[Ruling<'_>]) -> Verdict {
    rulings.iter().map(Ruling::verdict).max().unwrap_or(Verdict::Ask)
}

fn page(name: &str, rulings: &[Ruling<'_>], settings: &Settings) -> String {
    let mut page = format!("A call of {} by a model {}\n", styled(STRONG, name), outcome(verdict(rulings)));
    for ruling in rulings {
        if let Some(target) = ruling.target {
            let _ = writeln!(page, "\n{} {}", styled(STRONG, visible(&target.to_string())), outcome(ruling.verdict()));
        }
        for reason in &ruling.reasons() {
            for line in lines(reason, ruling.target, settings) {
                let _ = writeln!(page, "  {line}");
            }
        }
    }
    page
}

fn outcome(verdict: Verdict) -> String {
    match verdict {
        Verdict::Allow => styled(GOOD, "is allowed"),
        Verdict::Ask => styled(ALERT, "is asked about") + ", and refused if nobody can answer",
        Verdict::Deny => styled(BAD, "is refused"),
    }
}

/// Returns the lines about a reason, one for each clause or rule.
fn lines(reason: &Reason<'_>, target: Option<&Target>, settings: &Settings) -> Vec<String> {
    let at = |origins: &[&Origin]| {
        let places: Vec<_> = origins.iter().map(|origin| visible(&origin.to_string()).into_owned()).collect();
        if places.is_empty() { String::new() } else { styled(FAINT, format!(" ({})", places.join(", "))) }
    };
    match reason {
        Reason::Granted(clauses) => {
            let line = |clause: &&Clause| {
                let text = visible(clause.as_str()).into_owned();
                format!("granted by `{text}`{}", at(&clause_origins(clause, settings)))
            };
            clauses.iter().map(line).collect()
        }
        Reason::Rules(rules) => {
            let line = |rule: &&Rule| {
                let text = visible(&rule.to_string()).into_owned();
                format!("decided by the rule `{text}`{}", at(&rule_origins(rule, settings)))
            };
            rules.iter().map(line).collect()
        }
        Reason::Ungranted => {
            let flag = target.map(|target| format!("; --grant {} would", shell::quoted(target.to_clause().as_str())));
            vec![format!("{reason}{}", visible(&flag.unwrap_or_default()))]
        }
        reason => vec![visible(&reason.to_string()).into_owned()],
    }
}

/// Returns the rulings as a document, with the places that set each clause and each rule.
fn document(name: &str, rulings: &[Ruling<'_>], settings: &Settings) -> Value {
    let mut document = json!({"tool": name, "verdict": verdict(rulings), "rulings": rulings});
    for (at, ruling) in rulings.iter().enumerate() {
        for (nth, reason) in ruling.reasons().iter().enumerate() {
            let (key, origins): (_, Vec<_>) = match reason {
                Reason::Granted(clauses) => {
                    ("clauses", clauses.iter().map(|clause| clause_origins(clause, settings)).collect())
                }
                Reason::Rules(rules) => ("rules", rules.iter().map(|rule| rule_origins(rule, settings)).collect()),
                _ => continue,
            };
            let items = &mut document["rulings"][at]["reasons"][nth][key];
            for (item, origins) in origins.into_iter().enumerate() {
                items[item]["origins"] = origins.into_iter().map(Origin::document).collect();
            }
        }
    }
    document
}

/// Returns the places that set a clause of the grant.
fn clause_origins<'a>(clause: &Clause, settings: &'a Settings) -> Vec<&'a Origin> {
    let grants = settings.grants.iter().filter(|grant| grant.value == *clause).map(|grant| &grant.origin);
    let within = settings.within.iter().filter(|within| within.value.contains(clause)).map(|within| &within.origin);
    grants.chain(within).collect()
}

/// Returns the places that set a rule. A grant implies the rule that allows it.
fn rule_origins<'a>(rule: &Rule, settings: &'a Settings) -> Vec<&'a Origin> {
    let rules = settings.policy.iter().filter(|setting| setting.value == *rule).map(|setting| &setting.origin);
    let implied = |clause: &Clause| Rule::for_target(Verdict::Allow, clause.clone()) == *rule;
    let grants = settings.grants.iter().filter(|grant| implied(&grant.value)).map(|grant| &grant.origin);
    rules.chain(grants).collect()
}
