//! `toolcrib memory`

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tools_builtin::memory::{Filter, Memory, MemoryEntry};

use crate::error::Error;
use crate::exit::Exit;
use crate::memory;
use crate::notice::{self, FAINT, STRONG, styled};
use crate::output;
use crate::program;
use crate::visible::visible;

/// List, confirm and forget the memories of earlier sessions; export and import them
///
/// Sessions save facts for later ones with memory.save. A new session begins with the newest of its project and yours. A memory of a session
/// that had read text from outside, such as a web page, waits for `memory confirm`, because that text may have dictated it.
#[derive(Args, Debug)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List the memories, the oldest first
    List {
        #[command(flatten)]
        filter: FilterOptions,

        /// Print the memories as JSON, one document per line
        #[arg(long)]
        json: bool,
    },
    /// Print the memories as JSON lines, which `memory import` reads
    Export {
        #[command(flatten)]
        filter: FilterOptions,
    },
    /// Add the memories of a file of JSON lines, or of standard input. They wait for `memory confirm`
    Import {
        /// The file [default: standard input]
        file: Option<PathBuf>,

        /// Let the file say which memories are confirmed and who saved them, as a backup of your own does
        #[arg(long)]
        trust: bool,
    },
    /// Remove memories
    Forget {
        /// The numbers of the memories
        #[arg(value_name = "NUMBER", required = true, value_parser = number)]
        ids: Vec<i64>,
    },
    /// Confirm memories that you have read, so that later sessions begin with them
    Confirm {
        /// The numbers of the memories
        #[arg(value_name = "NUMBER", required = true, value_parser = number)]
        ids: Vec<i64>,
    },
}

/// Parses the number of a memory.
fn number(text: &str) -> Result<i64, String> {
    let is_number = |number: &i64| *number > 0;
    let refused = || "write a number that `memory list` shows, such as 3".to_owned();
    text.parse().ok().filter(is_number).ok_or_else(refused)
}

#[derive(Args, Debug)]
struct FilterOptions {
    /// Only memories of this scope: `user`, `project` (that of the current directory), or `project/NAME`
    #[arg(long)]
    scope: Option<String>,

    /// Only memories that are not confirmed
    #[arg(long)]
    unconfirmed: bool,
}

impl FilterOptions {
    fn filter(self) -> Filter {
        Filter {
            scope: self.scope.map(scope),
            unconfirmed: self.unconfirmed,
        }
    }
}

/// Completes the scope of the current directory with the name of its project.
fn scope(text: String) -> String {
    if text != "project" {
        return text;
    }
    let here = Memory::new("").with_project(Path::new("."));
    format!("project/{}", here.project().unwrap_or_default())
}

impl MemoryArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let memory = memory::own()?;
        match self.command {
            MemoryCommand::List { filter, json } => list(&memory, filter, json)?,
            MemoryCommand::Export { filter } => {
                memory
                    .entries(&filter.filter())?
                    .iter()
                    .try_for_each(output::json)?;
            }
            MemoryCommand::Import { file, trust } => import(&memory, file, trust)?,
            MemoryCommand::Forget { ids } => note("forgot", &memory.forget(&ids)?),
            MemoryCommand::Confirm { ids } => note("confirmed", &memory.confirm(&ids)?),
        }
        Ok(Exit::Success)
    }
}

fn list(memory: &Memory, filter: FilterOptions, is_json: bool) -> Result<(), Error> {
    let such = if filter.scope.is_some() || filter.unconfirmed {
        "such "
    } else {
        ""
    };
    let entries = memory.entries(&filter.filter())?;
    if is_json {
        return entries.iter().try_for_each(output::json);
    }
    if entries.is_empty() {
        notice::note(&format!(
            "there are no {such}memories; a session saves one with memory.save"
        ));
    }
    output::page(&entries.iter().map(page).collect::<String>())
}

/// Returns the lines of a memory, with its whole text, which a person confirms.
fn page(entry: &MemoryEntry) -> String {
    let mut page = format!("{}  {}", styled(STRONG, entry.id), visible(&entry.scope));
    let author = if entry.author.is_empty() {
        "an unknown author"
    } else {
        &entry.author
    };
    let mut facts = format!(
        "  saved {} by {}",
        entry.saved.strftime("%Y-%m-%d"),
        visible(author)
    );
    if let Some(session) = &entry.session {
        let _ = write!(facts, ", session {}", visible(session));
    }
    if !entry.principal.is_empty() {
        let _ = write!(facts, ", for {}", visible(&entry.principal));
    }
    if !entry.tags.is_empty() {
        let _ = write!(facts, ", tags {}", visible(&entry.tags.join(" ")));
    }
    page += &styled(FAINT, facts).to_string();
    page += if entry.confirmed {
        "\n"
    } else {
        ", not confirmed\n"
    };
    for line in tools::visible_text(&entry.text).lines() {
        let _ = writeln!(page, "  | {line}");
    }
    page
}

fn import(memory: &Memory, file: Option<PathBuf>, is_trusted: bool) -> Result<(), Error> {
    let imported = match file {
        Some(path) => {
            let opened = File::open(&path).map_err(|source| Error::MemoryFile { path, source })?;
            memory.import(BufReader::new(opened), is_trusted)?
        }
        None => {
            if io::stdin().is_terminal() {
                notice::note(
                    "reading memories from standard input, one JSON document a line; Ctrl-D ends them",
                );
            }
            memory.import(io::stdin().lock(), is_trusted)?
        }
    };
    notice::note(&format!(
        "added memories: {}, known already: {}",
        imported.added, imported.known
    ));
    if imported.added > 0 && !is_trusted {
        let program = program::name();
        notice::note(&format!(
            "read them with {program} memory list --unconfirmed, then {program} memory confirm NUMBER"
        ));
    }
    Ok(())
}

fn note(done: &str, entries: &[MemoryEntry]) {
    for entry in entries {
        notice::note(&format!(
            "{done} memory {}: {}",
            entry.id,
            tools::visible_line(&entry.text, 200)
        ));
    }
}
