//! `toolcrib config`

use std::fmt::Debug;
use std::path::PathBuf;

use agent::{KeySource, RetryPolicy, Timeouts};
use anstyle::Style;
use clap::Args;
use serde_json::{Value, json};

use crate::config::{Looked, Origin, Setting, Settings, State, WAITS, Waiting};
use crate::error::Error;
use crate::exit::Exit;
use crate::linked;
use crate::notice::{FAINT, STRONG, styled};
use crate::output;
use crate::session::{DIRECT, SessionOptions};
use crate::table::Table;
use crate::visible::visible;

/// Show which settings hold for a session, and where each comes from
///
/// The other options are those of run, and the settings that they change are shown. Keys are not shown, only where they would be read from.
#[derive(Args, Debug)]
#[command(after_long_help = HELP)]
pub(super) struct Config {
    #[command(flatten)]
    options: SessionOptions,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The format of the file.
const HELP: &str = include_str!("config.txt");

/// One line of the table.
#[derive(Clone)]
struct Row {
    key: &'static str,
    value: Value,
    origin: Origin,
}

impl Config {
    pub(super) fn run(self) -> Result<Exit, Error> {
        let settings = self.options.settings()?;
        let rows = [surroundings(&self.options), rows(settings)].concat();
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

fn page(files: &[Looked], rows: &[Row]) -> String {
    let mut table = Table::new([FAINT, Style::new(), STRONG], 2);
    for Looked { role, path, state } in files {
        table.push([(*role).to_owned(), shown(&told(state)), shown(&path.display().to_string())]);
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

fn file_document(Looked { role, path, state }: &Looked) -> Value {
    let name = match state {
        State::Missing => "missing",
        State::Used => "used",
        State::Trusted(_) => "trusted",
        State::Untrusted => "untrusted",
        State::PassedOver => "passed_over",
    };
    json!({"role": role, "path": path.display().to_string(), "state": name})
}

fn told(state: &State) -> String {
    match state {
        State::Missing => "not there".to_owned(),
        State::Used => "used".to_owned(),
        State::Trusted(origin) => format!("used, trusted by {origin}"),
        State::Untrusted => "used as far as it narrows; not trusted".to_owned(),
        State::PassedOver => "passed over: it belongs to another user".to_owned(),
    }
}

/// What only the command line says.
fn surroundings(options: &SessionOptions) -> Vec<Row> {
    let path = |path: &PathBuf| json!(path.display().to_string());
    let patience = options.host.policy.approval_timeout;
    let patience = patience.map(|patience| Setting::of_flag("--approval-timeout", patience));
    let usual_patience = exact(&tools::Approval::DEFAULT_TIMEOUT);
    vec![
        row("root", Some(&options.host.root.setting()), Value::Null, path),
        row("journal", options.journal.file().as_ref(), Value::Null, path),
        row("session", options.journal.name().as_ref(), Value::Null, |name| json!(name)),
        row("approval_timeout", patience.as_ref(), usual_patience, exact),
    ]
}

/// Every setting that a file can have, those that nobody has set among them.
fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = vec![
        row("provider", settings.provider.as_ref(), json!(DIRECT), |provider| json!(provider)),
        row("model", settings.model.as_ref(), Value::Null, |model| json!(model)),
        row("base_url", settings.base_url.as_ref(), Value::Null, |url| json!(url)),
        row("key", settings.key.as_ref(), usual_key(settings), key_document),
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
    let (mut patience, Waiting { waits, retries }) = ((Timeouts::default(), RetryPolicy::default()), &settings.waiting);
    for ((key, usual), wait) in WAITS.into_iter().zip(waits) {
        rows.push(row(key, wait.as_ref(), exact(usual(&mut patience)), exact));
    }
    let retries = row("patience.retries", retries.as_ref(), json!(patience.1.max_retries), |retries| json!(retries));
    rows.insert(rows.len() - 2, retries);
    rows
}

fn row<T>(key: &'static str, setting: Option<&Setting<T>>, default: Value, document: impl Fn(&T) -> Value) -> Row {
    match setting {
        Some(setting) => Row { key, value: document(&setting.value), origin: setting.origin.clone() },
        None => Row { key, value: default, origin: Origin::Default },
    }
}

/// Where the key would be read from, and whether there is anything.
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

fn usual_key(settings: &Settings) -> Value {
    let provider = settings.provider.as_ref().map_or(DIRECT, |provider| &provider.value);
    let variable = linked::key_variable(provider);
    variable.map_or(Value::Null, |name| key_document(&KeySource::Environment(name.to_owned())))
}

/// In the unit that says it whole.
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
            format!("{place} ({})", if is_found { "found" } else { "nothing there" })
        }
        value => value.to_string(),
    }
}
