//! `toolcrib config`

use anstyle::Style;
use clap::Args;
use serde_json::{Value, json};
use terminal::stdout;
use tools::join;

use super::guide;
use crate::config::{self, Document, FileState, Origin, Setting, Settings, SettingsFile};
use crate::error::Error;
use crate::notice::{FAINT, STRONG, paint};
use crate::provider_choice::ProviderChoice;
use crate::session::SessionOptions;
use crate::{output, program, provider_options};
use host::exit::Exit;
use host::table::Table;
use tools::visible::visible;

/// Show the effective settings of a session, and the origin of each
///
/// The options are those of run, and their effect on the settings is shown, also that of --resume. Of a key, only the source is
/// shown.
#[derive(Args, Debug)]
#[command(after_long_help = long_help())]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    options: SessionOptions,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Returns the examples and the text on files and keys.
fn long_help() -> String {
    let examples = guide::examples("config");
    format!("{examples}\n{}", config::help())
}

/// A line of the settings table.
#[derive(Clone)]
struct Row {
    key: &'static str,
    value: Value,
    origin: Origin,
}

impl ConfigArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let (settings, _resumed) = self.options.settings().await?;
        let rows = [flag_rows(&self.options), rows(&settings)].concat();
        if self.json {
            let row = |row: &Row| json!({"key": row.key, "value": row.value, "origin": row.origin.document()});
            let settings_rows: Vec<_> = rows.iter().map(row).collect();
            let files: Vec<_> = settings.files().iter().map(file_document).collect();
            output::json(&json!({"files": files, "settings": settings_rows}))?;
        } else {
            stdout::page(&page(settings.files(), &rows, stdout::width()))?;
        }
        Ok(Exit::Success)
    }
}

fn page(files: &[SettingsFile], rows: &[Row], width: usize) -> String {
    let mut table = Table::new([FAINT, Style::new()], 2);
    for file in files {
        let path = file.path.display().to_string();
        table.push([file.role.to_owned(), note(&path, &state_text(&file.state))]);
    }
    let mut page = String::new();
    if !files.is_empty() {
        page += &format!("{}\n{}\n", paint(STRONG, "Files"), table.wrap(width));
    }
    let mut table = Table::new([FAINT, Style::new()], 2);
    for Row { key, value, origin } in rows {
        table.push([(*key).to_owned(), note(&plain(value), &origin.to_string())]);
    }
    page += &format!("{}\n{}", paint(STRONG, "Settings"), table.wrap(width));
    page
}

/// Returns the text with a note in parentheses.
fn note(text: &str, note: &str) -> String {
    format!(
        "{} {}",
        paint(STRONG, visible(text)),
        paint(FAINT, format!("({})", visible(note)))
    )
}

fn file_document(file: &SettingsFile) -> Value {
    let name = match file.state {
        FileState::Missing => "missing",
        FileState::Used => "used",
        FileState::Trusted(_) => "trusted",
        FileState::Unapproved(_) => "unapproved",
        FileState::Untrusted => "untrusted",
        FileState::Ignored => "ignored",
    };
    json!({"role": file.role, "path": file.path.display().to_string(), "state": name})
}

fn state_text(state: &FileState) -> String {
    match state {
        FileState::Missing => "missing".to_owned(),
        FileState::Used => "used".to_owned(),
        FileState::Trusted(origin) => format!("used, trusted by {origin}"),
        FileState::Unapproved(origin) => {
            format!(
                "used, not approved: it may only narrow until {} trust approves it, as {origin} permits",
                program::name()
            )
        }
        FileState::Untrusted => "used, not trusted: it may only narrow".to_owned(),
        FileState::Ignored => "ignored: it belongs to another user".to_owned(),
    }
}

/// Returns the settings that only the command line has.
fn flag_rows(options: &SessionOptions) -> Vec<Row> {
    let name = options.journal.name().map(|name| name.map(str::to_owned));
    vec![
        row("root", Some(&options.agent.host.root.setting())),
        row("journal", options.journal.file().as_ref()),
        row("session", name.as_ref()),
    ]
}

/// Returns every setting of a file, including the unset ones. The two keys that name the provider's key are one row.
fn rows(settings: &Settings) -> Vec<Row> {
    let choice = ProviderChoice::from_settings(settings);
    let rows = settings.values().rows().filter_map(|(key, value, origin)| {
        let value = match key.name {
            "provider" => json!(choice.provider),
            "model" => json!(choice.model),
            "key_env" => return Some(key_row(settings, &choice)),
            "key_file" => return None,
            _ => value,
        };
        let key = key.name;
        Some(Row { key, value, origin })
    });
    rows.collect()
}

fn row<T: Document>(key: &'static str, setting: Option<&Setting<T>>) -> Row {
    let origin = setting.map(|setting| setting.origin.clone());
    Row {
        key,
        value: setting.map_or(Value::Null, |setting| setting.value.document()),
        origin: origin.unwrap_or_default(),
    }
}

fn key_row(settings: &Settings, choice: &ProviderChoice) -> Row {
    let Setting { value, origin } = provider_options::key_source(settings, choice);
    Row {
        key: "key",
        value: value.map_or(Value::Null, |source| source.document()),
        origin,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => join(items.iter().map(plain), " "),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| match name.as_str() {
                "variable" | "file" => 0,
                "found" => 1,
                _ => 2,
            });
            let fields = fields
                .into_iter()
                .map(|(name, value)| match (name.as_str(), value) {
                    ("variable" | "file", place) => plain(place),
                    ("found", Value::Bool(is_found)) => {
                        format!("({})", if *is_found { "found" } else { "not found" })
                    }
                    (name, value) => format!("{name}={}", plain(value)),
                });
            join(fields, " ")
        }
        value => value.to_string(),
    }
}
