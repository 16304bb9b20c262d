//! `toolcrib why`

use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use tools::policy::{Reason, Rule, Ruling, Verdict};
use tools::{CancellationToken, Clause, Target};

use crate::argument::CallArguments;
use crate::config::{Origin, Setting, Settings, Values};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::host::{HostOptions, ProtectedFiles};
use crate::notice::{ALERT, BAD, FAINT, GOOD, STRONG, styled};
use crate::output;
use crate::shell;
use crate::visible::visible;

/// Explain whether a call of a model would be allowed, asked about or refused
///
/// Names the clause, rule or selection that decides, and the place that sets it. Runs nothing and needs no provider.
#[derive(Args, Debug)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    arguments: CallArguments,

    #[command(flatten)]
    host: HostOptions,

    /// Print the explanation as one JSON document
    #[arg(long)]
    json: bool,
}

impl WhyArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let (entry, arguments) = self.arguments.read()?;
        let targets = tools::call::validate(&entry, arguments)?;
        let settings = self.host.settings(Values::default())?;
        let is_selected = settings.selection()?.matches(&entry);
        let console = Arc::new(Console::default());
        let cx = self.host.context(&settings, &ProtectedFiles::default(), CancellationToken::new(), &console)?;
        let name = entry.name().as_str();
        // A session does not know an unselected tool, so no clause or rule decides.
        if let Some(select) = settings.select.as_ref().filter(|_| !is_selected) {
            if self.json {
                output::json(&unselected_document(name, select))?;
            } else {
                output::page(&unselected_page(name, select, output::width()))?;
            }
            return Ok(Exit::Success);
        }
        let rulings: Vec<_> = cx.rulings(entry.name(), &targets).collect();
        if self.json {
            output::json(&document(name, &rulings, &settings))?;
        } else {
            output::page(&page(name, &rulings, &settings, output::width()))?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the verdict about the call: the strictest one about a target.
fn verdict(rulings: &[Ruling<'_>]) -> Verdict {
    rulings.iter().map(Ruling::verdict).max().unwrap_or(Verdict::Ask)
}

fn unselected_page(name: &str, select: &Setting<Vec<String>>, width: usize) -> String {
    let (globs, origin) = (select.value.join(" "), select.origin.to_string());
    let place = styled(FAINT, format!("({})", visible(&origin)));
    let reason = format!("the session does not select it: `{}` {place}", visible(&globs));
    heading(name, Verdict::Deny, width) + &fit::hanging(&reason, width, "  ", "    ")
}

fn unselected_document(name: &str, select: &Setting<Vec<String>>) -> Value {
    let unselected = json!({"select": select.value, "origin": select.origin.document()});
    json!({"tool": name, "verdict": Verdict::Deny, "rulings": [], "unselected": unselected})
}

fn heading(name: &str, verdict: Verdict, width: usize) -> String {
    fit::hanging(&format!("A call of {} by a model {}", styled(STRONG, name), outcome(verdict)), width, "", "  ")
}

fn page(name: &str, rulings: &[Ruling<'_>], settings: &Settings, width: usize) -> String {
    let mut page = heading(name, verdict(rulings), width);
    for ruling in rulings {
        if let Some(target) = ruling.target {
            let line = format!("{} {}", styled(STRONG, visible(&target.to_string())), outcome(ruling.verdict()));
            page += "\n";
            page += &fit::hanging(&line, width, "", "  ");
        }
        for reason in &ruling.reasons() {
            for line in lines(reason, ruling.target, settings) {
                page += &fit::hanging(&line, width, "  ", "    ");
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
