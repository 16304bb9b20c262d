//! The command `memory`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _};
use std::path::Path;

use host::style::{FAINT, STRONG, paint};
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
    ValueKind, program,
};
use tools::visible::visible;
use tools::{visible_line, visible_text};

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::owner::Filter;
use crate::row::MemoryEntry;
use crate::transfer::ImportError;

pub(crate) const MEMORY: Command = Command {
    about: "List, confirm and forget the memories of earlier sessions; export and import them",
    details: "Sessions save facts for later ones with memory.save. A new session begins with the newest of its project and yours. A \
              memory of a session that had read text from outside, such as a web page, waits for `memory confirm`, because that text \
              may have dictated it.",
    commands: &[LIST, EXPORT, IMPORT, FORGET, CONFIRM],
    group: CommandGroup::Use,
    rank: 40,
    examples: "memory list                # Read what earlier sessions saved
               memory list --unconfirmed  # Read the memories that wait for a confirmation
               memory forget 3            # Remove the memory of this number",
    ..Command::new("memory")
};

const LIST: Command = Command {
    about: "List the memories, the oldest first",
    arguments: &[
        SCOPE,
        UNCONFIRMED,
        Argument::flag("json", "Print the memories as JSON, one document per line"),
    ],
    run: Some(|arguments, cx| Box::pin(async { list(arguments, cx) })),
    ..Command::new("list")
};

const EXPORT: Command = Command {
    about: "Print the memories as JSON lines, which `memory import` reads",
    arguments: &[SCOPE, UNCONFIRMED],
    run: Some(|arguments, cx| {
        Box::pin(async {
            let entries = Memory::own()?.entries(&filter(arguments)?)?;
            entries.iter().try_for_each(|entry| cx.write_json(entry))?;
            Ok(Exit::Success)
        })
    }),
    ..Command::new("export")
};

const IMPORT: Command = Command {
    about: "Add the memories of a file of JSON lines, or of standard input. They wait for `memory confirm`",
    arguments: &[
        Argument::Value {
            name: "file",
            value: "FILE",
            form: ValueForm::Optional,
            kind: ValueKind::Path,
            help: "The file [default: standard input]",
        },
        Argument::flag(
            "trust",
            "Let the file say which memories are confirmed and who saved them, as a backup of your own does",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(async { import(arguments, cx) })),
    ..Command::new("import")
};

const FORGET: Command = Command {
    about: "Remove memories",
    arguments: &[NUMBERS],
    run: Some(|arguments, cx| Box::pin(async { change(arguments, cx, "forgot", Memory::forget) })),
    ..Command::new("forget")
};

const CONFIRM: Command = Command {
    about: "Confirm memories that you have read, so that later sessions begin with them",
    arguments: &[NUMBERS],
    run: Some(|arguments, cx| {
        Box::pin(async { change(arguments, cx, "confirmed", Memory::confirm) })
    }),
    ..Command::new("confirm")
};

const SCOPE: Argument = Argument::value::<String>(
    ValueForm::Named,
    "scope",
    "SCOPE",
    "Only memories of this scope: `user`, `project` (that of the current directory), or `project/NAME`",
);

const UNCONFIRMED: Argument = Argument::flag("unconfirmed", "Only memories that are not confirmed");

const NUMBERS: Argument = Argument::Value {
    name: "ids",
    value: "NUMBER",
    form: ValueForm::Many,
    kind: ValueKind::Text(check_number),
    help: "The numbers of the memories",
};

fn check_number(text: &str) -> Result<(), String> {
    match text.parse::<i64>() {
        Ok(1..) => Ok(()),
        _ => Err("write a number that `memory list` shows, such as 3".to_owned()),
    }
}

fn filter(arguments: &Arguments) -> Result<Filter, CommandError> {
    let mut scope = arguments.value::<String>("scope")?;
    if scope.as_deref() == Some("project") {
        let here = Memory::new("").with_project(Path::new("."));
        scope = Some(format!("project/{}", here.project().unwrap_or_default()));
    }
    Ok(Filter {
        scope,
        unconfirmed: arguments.is_given("unconfirmed"),
    })
}

fn list(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let filter = filter(arguments)?;
    let entries = Memory::own()?.entries(&filter)?;
    if arguments.is_given("json") {
        entries.iter().try_for_each(|entry| cx.write_json(entry))?;
        return Ok(Exit::Success);
    }
    if entries.is_empty() {
        let such = if filter.scope.is_some() || filter.unconfirmed {
            "such "
        } else {
            ""
        };
        cx.note(&format!(
            "there are no {such}memories; a session saves one with memory.save"
        ));
    }
    cx.write_page(&entries.iter().map(render_entry).collect::<String>())?;
    Ok(Exit::Success)
}

/// Returns the lines of a memory, with its whole text, which a person confirms.
fn render_entry(entry: &MemoryEntry) -> String {
    let mut page = format!("{}  {}", paint(STRONG, entry.id), visible(&entry.scope));
    let author = if entry.author.is_empty() {
        "an unknown author"
    } else {
        &entry.author
    };
    let date = entry.saved.strftime("%Y-%m-%d");
    let mut facts = format!("  saved {date} by {}", visible(author));
    if let Some(session) = &entry.session {
        let _ = write!(facts, ", session {}", visible(session));
    }
    if !entry.principal.is_empty() {
        let _ = write!(facts, ", for {}", visible(&entry.principal));
    }
    if !entry.tags.is_empty() {
        let _ = write!(facts, ", tags {}", visible(&entry.tags.join(" ")));
    }
    page += &paint(FAINT, facts);
    page += if entry.confirmed {
        "\n"
    } else {
        ", not confirmed\n"
    };
    for line in visible_text(&entry.text).lines() {
        let _ = writeln!(page, "  | {line}");
    }
    page
}

fn import(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let memory = Memory::of_settings(&cx.settings()?)?;
    let is_trusted = arguments.is_given("trust");
    let imported = match arguments.path("file") {
        Some(path) => {
            let opened = File::open(&path);
            let opened = opened.map_err(|source| ImportError::Open { path, source })?;
            memory.import(BufReader::new(opened), is_trusted)?
        }
        None => {
            if io::stdin().is_terminal() {
                cx.note("reading memories from standard input, one JSON document a line; Ctrl-D ends them");
            }
            memory.import(io::stdin().lock(), is_trusted)?
        }
    };
    cx.note(&format!(
        "added memories: {}, known already: {}",
        imported.added, imported.known
    ));
    if imported.added > 0 && !is_trusted {
        let program = program::name();
        cx.note(&format!(
            "read them with {program} memory list --unconfirmed, then {program} memory confirm NUMBER"
        ));
    }
    Ok(Exit::Success)
}

fn change(
    arguments: &Arguments,
    cx: &dyn CommandContext,
    verb: &str,
    change: fn(&Memory, &[i64]) -> Result<Vec<MemoryEntry>, MemoryError>,
) -> Result<Exit, CommandError> {
    for entry in change(&Memory::own()?, &arguments.values("ids")?)? {
        let text = visible_line(&entry.text, 200);
        cx.note(&format!("{verb} memory {}: {text}", entry.id));
    }
    Ok(Exit::Success)
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        Self::new(Exit::Usage, error)
    }
}
