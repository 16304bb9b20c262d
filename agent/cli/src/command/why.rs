//! `toolcrib why`

use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use terminal::stdout;
use tools::policy::{Reason, Ruling, Verdict};
use tools::{CancellationToken, Target};

use crate::argument::CallArguments;
use crate::config::{KeyFlags, ProgramSettings as _, SelectFlag, Setting, Values};
use crate::error::Error;
use crate::host_options::HostOptions;
use crate::notice::{ALERT, BAD, FAINT, GOOD, STRONG, paint};
use crate::session_view::SessionView;
use crate::{output, tool_list};
use host::{Exit, fit, shell};
use tools::visible::visible;

/// Explain whether a call of a model would be allowed, asked about or refused
///
/// Names the clause, rule or selection that decides, and the place that sets it. Runs nothing and needs no provider.
#[derive(Args, Debug)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    arguments: CallArguments,

    #[command(flatten)]
    select: KeyFlags<SelectFlag>,

    #[command(flatten)]
    host: HostOptions,

    /// Print the explanation as one JSON document
    #[arg(long)]
    json: bool,
}

impl WhyArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let root = self.host.servers_root();
        let name = &*self.arguments.name;
        let _servers =
            tool_list::attach_for(name, root, || self.host.settings(Values::default())).await?;
        let (entry, arguments) = self.arguments.read()?;
        let settings = self.host.settings(self.select.values()?)?.attended();
        let is_selected = settings.selection()?.matches(&entry);
        let view = Arc::new(SessionView::default());
        let cx = self
            .host
            .attended_host(&settings, CancellationToken::new(), &view)?;
        // As the pipeline checks it, so that a misspelt channel is an error here, too.
        let targets = tools::call::validate(&entry, arguments, Some(&cx))?;
        let name = entry.name().as_str();
        // A session does not know an unselected tool, so no clause or rule decides.
        if let Some(select) = settings.program().select.as_ref().filter(|_| !is_selected) {
            if self.json {
                output::json(&unselected_document(name, select))?;
            } else {
                stdout::page(&unselected_page(name, select, stdout::width()))?;
            }
            return Ok(Exit::Success);
        }
        let rulings: Vec<_> = cx.rulings(entry.tool(), &targets).collect();
        if self.json {
            output::json(&json!({"tool": name, "verdict": verdict(&rulings), "rulings": rulings}))?;
        } else {
            stdout::page(&page(name, &rulings, stdout::width()))?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the verdict about the call: the strictest one about a target.
fn verdict(rulings: &[Ruling<'_>]) -> Verdict {
    let verdicts = rulings.iter().map(|ruling| ruling.verdict);
    verdicts.max().unwrap_or(Verdict::Ask)
}

fn unselected_page(name: &str, select: &Setting<Vec<String>>, width: usize) -> String {
    let globs = select.value.join(" ");
    let origin = select.origin.to_string();
    let place = paint(FAINT, format!("({})", visible(&origin)));
    let globs = visible(&globs);
    let reason = format!("the session does not select it: `{globs}` {place}");
    heading(name, Verdict::Deny, width) + &fit::hanging(&reason, width, "  ", "    ")
}

fn unselected_document(name: &str, select: &Setting<Vec<String>>) -> Value {
    let unselected = json!({"select": select.value, "origin": select.origin.to_string()});
    json!({"tool": name, "verdict": Verdict::Deny, "rulings": [], "unselected": unselected})
}

fn heading(name: &str, verdict: Verdict, width: usize) -> String {
    let name = paint(STRONG, name);
    let line = format!("A call of {name} by a model {}", outcome(verdict));
    fit::hanging(&line, width, "", "  ")
}

fn page(name: &str, rulings: &[Ruling<'_>], width: usize) -> String {
    let mut page = heading(name, verdict(rulings), width);
    for ruling in rulings {
        if let Some(target) = ruling.target {
            let target = paint(STRONG, visible(&target.to_string()));
            let line = format!("{target} {}", outcome(ruling.verdict));
            page += "\n";
            page += &fit::hanging(&line, width, "", "  ");
        }
        for reason in &ruling.shown_reasons() {
            for line in lines(reason, ruling.target) {
                page += &fit::hanging(&line, width, "  ", "    ");
            }
        }
        for (clause, word) in ruling.unspelled() {
            let line = format!("not covered by {clause}: {word}");
            page += &fit::hanging(&visible(&line), width, "  ", "    ");
        }
    }
    page
}

fn outcome(verdict: Verdict) -> String {
    match verdict {
        Verdict::Allow => paint(GOOD, "is allowed"),
        Verdict::Ask => paint(ALERT, "is asked about") + ", and refused if nobody can answer",
        Verdict::Deny => paint(BAD, "is refused"),
    }
}

/// Returns the lines about a reason, one for each clause or rule.
fn lines(reason: &Reason<'_>, target: Option<&Target>) -> Vec<String> {
    match reason {
        Reason::Granted(clauses) => {
            let clauses = clauses.iter().map(|clause| clause.origins().locate(clause));
            clauses
                .map(|clause| format!("granted by {}", visible(&clause)))
                .collect()
        }
        Reason::Rules(rules) => {
            let rules = rules.iter().map(|rule| rule.origins().locate(rule));
            rules
                .map(|rule| format!("decided by the rule {}", visible(&rule)))
                .collect()
        }
        Reason::Ungranted | Reason::UnnamedHost => {
            // No clause covers a command with unknown words.
            let target = target.filter(|target| !target.has_unknown_words());
            let flag = target.map(|target| {
                let clause = target.to_clause();
                format!("; --grant {} would", shell::quote(clause.as_str()))
            });
            vec![format!("{reason}{}", visible(&flag.unwrap_or_default()))]
        }
        reason => vec![visible(&reason.to_string()).into_owned()],
    }
}

#[cfg(test)]
mod tests {
    use tools::{Grant, Host, ToolName};

    use super::*;

    #[test]
    fn an_unnamed_host_is_explained_with_the_flag_that_names_it() {
        let name = ToolName::new("fetch").unwrap();
        let page = |grant: &str| {
            let cx = Host::new().with_grant(Grant::parse([grant]).unwrap());
            let targets = ["net:read:[::1]:8080".parse().unwrap()];
            let rulings: Vec<_> = cx.rulings(&name, &targets).collect();
            anstream::adapter::strip_str(&page("fetch", &rulings, 200)).to_string()
        };
        let flag = r"; --grant 'net:read:\[::1\]:8080' would";
        let unnamed = page("net:read:**");
        assert!(
            unnamed.contains(&format!("names the host without wildcards{flag}")),
            "{unnamed}"
        );
        let ungranted = page("fs:read:**");
        assert_eq!(
            (
                ungranted.matches(flag).count(),
                ungranted.contains("wildcards")
            ),
            (1, false),
            "{ungranted}"
        );
        assert!(page(r"net:read:\[::1\]:8080").contains("is allowed"));
    }
}
