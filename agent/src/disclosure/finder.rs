//! [`ToolFinder`]: searches the tools of a session.

use std::sync::Arc;

use tools::policy::Verdict;
use tools::{Entry, ToolContext, ToolName, join, visible_line};
use tools_search::{Found, Match};

use super::definition::describe;
use crate::disclosure::DisclosureBudget;
use crate::found::SEARCHER;
use crate::run::BYTES_PER_TOKEN;
use crate::tool_set::ToolSet;
use crate::wire_tool_set::WireToolSet;

/// The most bytes of the definitions in a result, so that the output limit of `tools.search` cuts none.
const MAX_BYTES: u64 = 240 * 1024;

/// The most characters of a description in a result.
const DESCRIPTION_CHARS: usize = 300;

/// Finds tools of a set. The service of `tools.search` and `tools.call`, which a [`Driver`](crate::Driver) adds to the calls of a session
/// that does not offer all its tools.
#[derive(Clone, Debug)]
pub struct ToolFinder {
    pub(crate) tools: ToolSet,
    budget: DisclosureBudget,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolSearch {
    /// The best matches, best first.
    pub found: Vec<FoundTool>,
    /// The number of further tools that have words of the query.
    pub others: usize,
}

/// A tool that a search found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundTool {
    /// The tool.
    pub entry: Arc<Entry>,
    /// The words of the query that its definition has.
    pub matches: Vec<Match>,
    /// False if the grant covers no call of the tool, so that a person is asked about each.
    ///
    /// True says that a call may pass: the grant permits a target of each template of its effects, or of one template if the tool
    /// computes its targets. The call is refused if its function computes other targets, or if two templates have the same argument and the
    /// grant permits a different value for each.
    pub is_granted: bool,
}

impl ToolFinder {
    /// The name of the tool that searches.
    pub const SEARCH: &str = SEARCHER;

    /// Creates a finder of the tools of this set.
    pub fn new(tools: ToolSet) -> Self {
        Self {
            tools,
            budget: DisclosureBudget::default(),
        }
    }

    /// Sets the limits of results.
    #[must_use]
    pub fn with_budget(self, budget: DisclosureBudget) -> Self {
        Self { budget, ..self }
    }

    /// Returns the tools whose definitions match the query best, among those whose calls can pass in this context. A call can pass if
    /// the grant may permit its targets, or an approver can be asked, and no rule of the policy denies the tool.
    ///
    /// These tools are chosen before the ranking, so no other tool has an influence on the result.
    pub fn search(&self, cx: &ToolContext, query: &str, limit: usize) -> ToolSearch {
        let (ranked, number) = self.tools.index().search_and_count(query, limit, |name| {
            let entry = self.tools.get(name);
            entry.is_ok_and(|entry| access(cx, &entry).is_some())
        });
        let others = number.saturating_sub(ranked.len());
        let found = ranked
            .into_iter()
            .filter_map(|Found { name, matches, .. }| {
                let entry = self.tools.get(&name).ok()?;
                let is_granted = access(cx, &entry)?;
                Some(FoundTool {
                    entry,
                    matches,
                    is_granted,
                })
            });
        ToolSearch {
            found: found.collect(),
            others,
        }
    }

    /// Returns the definitions of a result, the lines about them, and the names of the tools whose definitions it has. The definitions and
    /// their lines are within the budget. If each of them is over it, the result has the first. What was left out is not counted.
    pub(crate) fn text(
        &self,
        search: &ToolSearch,
        cx: &ToolContext,
        wire: Option<&WireToolSet>,
    ) -> (String, String, Vec<ToolName>) {
        let tokens = self.budget.search_tokens;
        let mut left = tokens.saturating_mul(BYTES_PER_TOKEN).min(MAX_BYTES);
        let texts = search.found.iter().map(|found| {
            let definition = found.definition(wire);
            let line = found.line(cx);
            let size = (definition.len() + line.len()) as u64;
            (definition, line, size)
        });
        let texts: Vec<_> = texts.collect();
        // A definition over the budget must not displace one that fits.
        let is_within = texts.iter().any(|(.., size)| *size <= left);
        let mut definitions = String::new();
        let mut lines = String::new();
        let mut names = Vec::new();
        let mut too_large = Vec::new();
        for (found, (definition, line, size)) in search.found.iter().zip(texts) {
            let name = found.entry.name();
            if size > left && (is_within || !names.is_empty()) {
                too_large.push(cx.spelling(name).into_owned());
                continue;
            }
            left = left.saturating_sub(size);
            definitions += &definition;
            lines += &line;
            names.push(name.clone());
        }
        if search.others > 0 {
            lines += &format!(
                "Left out: {} less relevant; ask for more with limit, or with other words.\n",
                search.others
            );
        }
        if !too_large.is_empty() {
            lines += &format!(
                "Left out, because the result would be too large: {}; search for one by its name, with limit 1.\n",
                too_large.join(", ")
            );
        }
        (definitions, lines, names)
    }
}

impl FoundTool {
    /// Returns the definition with a short description.
    fn definition(&self, wire: Option<&WireToolSet>) -> String {
        format!("{}\n\n", describe(&self.entry, wire, &self.summary()))
    }

    /// Returns the reasons of the match. It has nothing that another party wrote, because it can be a part of a prompt.
    fn line(&self, cx: &ToolContext) -> String {
        let mut line = format!(
            "{} matches: {}",
            cx.spelling(self.entry.name()),
            self.reasons()
        );
        if !self.is_granted {
            line += "; the grant does not cover it, so each call asks a person";
        }
        line + "\n"
    }

    /// Returns the description as one line. Text from outside has no invisible characters in it.
    pub fn summary(&self) -> String {
        visible_line(&self.entry.tool().description, DESCRIPTION_CHARS)
    }

    /// Returns the words of the query with the fields that have them, such as `file (name, description), read (name)`.
    pub fn reasons(&self) -> String {
        let reason =
            |Match { word, fields, .. }: &Match| format!("{word} ({})", join(fields, ", "));
        join(self.matches.iter().map(reason), ", ")
    }
}

/// Returns true if the grant may permit a call of the tool, and false if a person has to be asked about each. Returns `None` if no call
/// can pass.
fn access(cx: &ToolContext, entry: &Entry) -> Option<bool> {
    let tool = entry.tool();
    if cx
        .rulings(tool, &[])
        .any(|ruling| ruling.verdict == Verdict::Deny)
    {
        return None;
    }
    let ceiling = tool.effects.ceiling(entry.name());
    let mut granted = ceiling.iter().map(|clause| cx.grant().may_permit(clause));
    // A call has every target of the templates, or some of the targets that the tool computes.
    let is_granted = if tool.effects.are_computed() {
        ceiling.is_empty() || granted.any(|is_granted| is_granted)
    } else {
        granted.all(|is_granted| is_granted)
    };
    (is_granted || cx.approver().is_some()).then_some(is_granted)
}
