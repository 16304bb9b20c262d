//! `toolcrib list`

use agent::Selection;
use anstyle::Style;
use clap::Args;
use serde_json::json;
use tools::Entry;

use crate::error::Error;
use crate::exit::Exit;
use crate::notice::{self, FAINT, STRONG};
use crate::output;
use crate::program;
use crate::sentence;
use crate::table::Table;
use crate::visible::visible;

/// List the tools with their effects, source and description
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Select tools by name, such as 'fs.*'; '!fs.write' excludes; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    /// Print the tools as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let selection = Selection::parse(&self.select)?;
        let mut entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        entries.retain(|entry| selection.matches(entry));
        if self.json {
            entries.iter().try_for_each(|entry| output::json(&document(entry)))?;
        } else {
            let mut table = Table::new([STRONG, Style::new(), FAINT, Style::new()], 0);
            entries.iter().for_each(|entry| table.push(row(entry)));
            output::page(&table.cut(output::width()))?;
        }
        let unusable = tools::conflicts().len() + tools::problems().len();
        if unusable > 0 {
            let program = program::name();
            notice::warning(&format!("{unusable} linked tools are unusable; run {program} doctor for the reasons"));
        }
        Ok(Exit::Success)
    }
}

fn document(entry: &Entry) -> serde_json::Value {
    let tool = entry.tool();
    json!({
        "name": tool.name,
        "description": tool.description,
        "effects": tool.effects,
        "tags": tool.tags,
        "source": entry.source(),
        "digest": entry.digest(),
    })
}

fn row(entry: &Entry) -> [String; 4] {
    let tool = entry.tool();
    [
        tool.name.to_string(),
        visible(&tool.effects.to_string()).into_owned(),
        visible(&entry.source().to_string()).into_owned(),
        visible(&sentence::first(&tool.description)).into_owned(),
    ]
}
