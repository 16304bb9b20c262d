//! `toolcrib search`

use agent::{FoundTool, ToolFinder};
use anstyle::Style;
use clap::Args;
use serde_json::json;
use terminal::stdout;

use crate::error::Error;
use crate::notice::{self, FAINT, STRONG};
use crate::output;
use crate::session::SessionOptions;
use host::exit::Exit;
use host::table::Table;
use tools::counted;
use tools::visible::visible;

/// Search the tools of a session with these options, as its model does: those that its selection and its grants let it call
#[derive(Args, Debug)]
pub(super) struct SearchArgs {
    /// The words to search for
    #[arg(required = true, value_name = "WORD")]
    query: Vec<String>,

    /// The most tools to print
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    /// Print the tools as JSON, one document per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: SessionOptions,
}

impl SearchArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let session = self.options.open_unrecorded().await?;
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let finder = ToolFinder::new(session.tools().clone());
        let search = finder.search(session.context(), &self.query.join(" "), limit);
        if self.json {
            let mut found = search.found.iter();
            found.try_for_each(|found| output::json(&document(found)))?;
            return Ok(Exit::Success);
        }
        let mut table = Table::new([STRONG, Style::new()], 0);
        for found in &search.found {
            let summary = visible(&found.summary()).into_owned();
            table.push([found.entry.name().to_string(), summary]);
            let mut reasons = format!("matches: {}", visible(&found.reasons()));
            if !found.is_granted {
                reasons += "; the grant does not cover it, so each call is asked about";
            }
            table.push_below(FAINT, reasons);
        }
        stdout::page(&table.wrap(stdout::width()))?;
        if search.found.is_empty() {
            notice::note(
                "no tool that this session may call matches; try other words, or a --grant for tools beyond its grant; list shows all",
            );
        } else if search.others > 0 {
            let others = counted(search.others as u64, "less relevant tool");
            notice::note(&format!("left out: {others}; print more with --limit"));
        }
        Ok(Exit::Success)
    }
}

fn document(found: &FoundTool) -> serde_json::Value {
    let matches = found.matches.iter().map(|found| {
        let fields: Vec<_> = found.fields.iter().map(ToString::to_string).collect();
        json!({"word": found.word, "fields": fields})
    });
    let tool = found.entry.tool();
    json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "matches": matches.collect::<Vec<_>>(),
        "granted": found.is_granted,
    })
}
