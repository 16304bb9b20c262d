//! `toolcrib config`

use std::fmt::Debug;
use std::path::PathBuf;

use agent::{KeySource, RetryPolicy, Timeouts};
use anstyle::Style;
use clap::Args;
use serde_json::{Value, json};

use crate::config::{ConfigFile, DURATIONS, FileState, Origin, RequestSettings, Setting, Settings};
use crate::error::Error;
use crate::exit::Exit;
use crate::linked;
use crate::notice::{FAINT, STRONG, styled};
use crate::output;
use crate::session::{DIRECT, SessionOptions};
use crate::table::Table;
use crate::visible::visible;

/// Show the effective settings of a session, and the origin of each
///
/// The options are those of run, and their effect on the settings is shown. Of a key, only the source is shown.
#[derive(Args, Debug)]
#[command(after_long_help = HELP)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    options: SessionOptions,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The documentation of the file format.
const HELP: &str = include_str!("config.txt");

/// A line of the settings table.
#[derive(Clone)]
struct Row {
    key: &'static str,
    value: Value,
    origin: Origin,
}

impl ConfigArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let settings = self.options.settings()?;
        let rows = [flag_rows(&self.options), rows(settings)].concat();
        if self.json {
            let row = |row: &Row| json!({"key": row.key, "value": row.value, "origin": row.origin.document()});
            let settings_rows: Vec<_> = rows.iter().map(row).collect();
            let files: Vec<_> = settings.files.iter().map(file_document).collect();
            output::json(&json!({"files": files, "settings": settings_rows}))?;
        } else {
            output::page(&page(&settings.files, &rows))?;
        }
        Ok(Exit::Success)
    }
}

fn page(files: &[ConfigFile], rows: &[Row]) -> String {
    let mut table = Table::new([FAINT, Style::new(), STRONG], 2);
    for ConfigFile { role, path, state } in files {
        table.push([(*role).to_owned(), shown(&state_text(state)), shown(&path.display().to_string())]);
    }
    let mut page = match files.is_empty() {
        true => String::new(),
        false => format!("{}\n{}\n", styled(STRONG, "Files"), table.cut(None)),
    };
    let mut table = Table::new([FAINT, STRONG, Style::new()], 2);
    for Row { key, value, origin } in rows {
        table.push([(*key).to_owned(), shown(&plain(value)), shown(&origin.to_string())]);
    }
    page += &format!("{}\n{}", styled(STRONG, "Settings"), table.cut(None));
    page
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn file_document(ConfigFile { role, path, state }: &ConfigFile) -> Value {
    let name = match state {
        FileState::Missing => "missing",
        FileState::Used => "used",
        FileState::Trusted(_) => "trusted",
        FileState::Untrusted => "untrusted",
        FileState::Ignored => "ignored",
    };
    json!({"role": role, "path": path.display().to_string(), "state": name})
}

fn state_text(state: &FileState) -> String {
    match state {
        FileState::Missing => "missing".to_owned(),
        FileState::Used => "used".to_owned(),
        FileState::Trusted(origin) => format!("used, trusted by {origin}"),
        FileState::Untrusted => "used, not trusted: it may only narrow".to_owned(),
        FileState::Ignored => "ignored: it belongs to another user".to_owned(),
    }
}

/// Returns the settings that only the command line has.
fn flag_rows(options: &SessionOptions) -> Vec<Row> {
    let path = |path: &PathBuf| json!(path.display().to_string());
    let timeout = options.host.policy.approval_timeout;
    let timeout = timeout.map(|timeout| Setting::from_flag("--approval-timeout", timeout));
    let default_timeout = exact(&tools::Approval::DEFAULT_TIMEOUT);
    vec![
        row("root", Some(&options.host.root.setting()), Value::Null, path),
        row("journal", options.journal.file().as_ref(), Value::Null, path),
        row("session", options.journal.name().as_ref(), Value::Null, |name| json!(name)),
        row("approval_timeout", timeout.as_ref(), default_timeout, exact),
    ]
}

/// Returns every setting that a file can have, including the unset ones.
fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = vec![
        row("provider", settings.provider.as_ref(), json!(DIRECT), |provider| json!(provider)),
        row("model", settings.model.as_ref(), Value::Null, |model| json!(model)),
        row("base_url", settings.base_url.as_ref(), Value::Null, |url| json!(url)),
        row("key", settings.key.as_ref(), default_key(settings), key_document),
        row("streaming", settings.streaming.as_ref(), json!(true), |streaming| json!(streaming)),
        row("profile", settings.profile.as_ref(), Value::Null, |profile| json!(profile)),
        row("select", settings.select.as_ref(), Value::Null, |select| json!(select)),
        row("default_grants", Some(&settings.default_grants), Value::Null, |granted| json!(granted)),
    ];
    rows.extend(settings.grants.iter().map(|grant| row("grants", Some(grant), Value::Null, |clause| json!(clause))));
    rows.extend(settings.within.iter().map(|within| row("within", Some(within), Value::Null, |list| json!(list))));
    rows.push(row("limits.max_steps", Some(&settings.max_steps), Value::Null, |steps| json!(steps)));
    rows.push(row("limits.call_timeout", settings.call_timeout.as_ref(), Value::Null, exact));
    rows.extend(
        settings.policy.iter().map(|rule| row("policy", Some(rule), Value::Null, |rule| json!(rule.to_string()))),
    );
    let (mut defaults, RequestSettings { durations, max_retries }) =
        ((Timeouts::default(), RetryPolicy::default()), &settings.requests);
    for ((key, field), setting) in DURATIONS.into_iter().zip(durations) {
        rows.push(row(key, setting.as_ref(), exact(field(&mut defaults)), exact));
    }
    let retries = row("retries.max", max_retries.as_ref(), json!(defaults.1.max_retries), |retries| json!(retries));
    rows.insert(rows.len() - 2, retries);
    rows
}

fn row<T>(key: &'static str, setting: Option<&Setting<T>>, default: Value, document: impl Fn(&T) -> Value) -> Row {
    match setting {
        Some(setting) => Row { key, value: document(&setting.value), origin: setting.origin.clone() },
        None => Row { key, value: default, origin: Origin::Default },
    }
}

/// Returns the key's source, and whether it holds something.
fn key_document(source: &KeySource) -> Value {
    match source {
        KeySource::Environment(name) => {
            json!({"variable": name, "found": std::env::var_os(name).is_some_and(|key| !key.is_empty())})
        }
        KeySource::File(path) => {
            let is_there = path.metadata().is_ok_and(|file| !file.is_dir() && file.len() > 0);
            json!({"file": path.display().to_string(), "found": is_there})
        }
        _ => Value::Null,
    }
}

fn default_key(settings: &Settings) -> Value {
    let provider = settings.provider.as_ref().map_or(DIRECT, |provider| &provider.value);
    let variable = linked::key_variable(provider);
    variable.map_or(Value::Null, |name| key_document(&KeySource::Environment(name.to_owned())))
}

/// Formats a value without rounding.
fn exact(duration: &impl Debug) -> Value {
    json!(format!("{duration:?}"))
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Object(key) => {
            let place = key.get("variable").or_else(|| key.get("file")).map(plain).unwrap_or_default();
            let is_found = key.get("found").and_then(Value::as_bool).unwrap_or_default();
            format!("{place} ({})", if is_found { "found" } else { "not found" })
        }
        value => value.to_string(),
    }
}
