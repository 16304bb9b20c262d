//! `toolcrib list`

use std::sync::Arc;

use agent::Selection;
use clap::Args;
use serde_json::json;
use terminal::stdout;
use tools::{CancellationToken, Entry};

use crate::config::{ConfigOptions, Values};
use crate::error::Error;
use crate::root::RootOption;
use crate::{linked, notice, output, tool_list};
use host::exit::Exit;

/// List the tools with the first sentence of their descriptions
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Select tools by name, such as 'fs.*'; '!fs.write' excludes; repeatable
    #[arg(long, value_name = "GLOB")]
    select: Vec<String>,

    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,

    /// Add the effects and the source of each tool
    #[arg(short, long, conflicts_with = "json")]
    long: bool,

    /// Print the tools as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let selection = Selection::parse(&self.select)?;
        let root = self.config.reads_files().then(|| self.root.setting().value);
        let settings = self.config.settings(Values::default())?;
        let first = host::FirstList::Needed;
        let token = CancellationToken::new();
        let _servers = tool_list::attach(root, &settings, &selection, first, &token).await;
        let mut entries = tools::list();
        notice::warn_unmatched(&selection, &entries);
        entries.retain(|entry| selection.matches(entry));
        if self.json {
            entries
                .iter()
                .try_for_each(|entry| output::json(&document(entry)))?;
        } else {
            let entries = entries.iter().map(Arc::as_ref);
            stdout::page(&tool_list::page(entries, self.long, stdout::width()))?;
        }
        if let Some(count) = linked::unusable() {
            notice::warning(&Error::Unusable(count).to_string());
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
