//! `toolcrib providers`

mod check;

use agent::provider::ModelService;
use agent::{KeySource, ProviderOptions, ProviderSubmission};
use anstyle::Style;
use clap::Args;
use serde_json::{Value, json};
use terminal::stdout;

use crate::config::{
    ConfigOptions, Document, Origin, ProgramSettings as _, Setting, Settings, Values,
};
use crate::error::Error;
use crate::notice::{self, BAD, FAINT, GOOD, STRONG, paint};
use crate::provider_choice::ProviderChoice;
use crate::provider_options::{self, ForeignKey};
use crate::{output, program};
use host::table::Table;
use host::{Exit, duration};
use tools::visible::visible;

use check::Answer;

/// List the linked providers, which of them are configured, and from where
///
/// A provider is configured if the settings choose it or its key is in the environment, unless the key belongs to another service. Of a key, only the source is shown.
#[derive(Args, Debug)]
pub(super) struct ProvidersArgs {
    #[command(flatten)]
    config: ConfigOptions,

    /// Send one small request to each configured service, and exit with 8 if one fails
    #[arg(long)]
    check: bool,

    /// Print the providers as JSON, one document per line
    #[arg(long)]
    json: bool,
}

/// A provider with its settings.
struct Row {
    provider: &'static ProviderSubmission,
    /// The origin of the choice, if a session without flags has this provider.
    chosen: Option<Origin>,
    /// True if the settings choose it, or its key was found, and the key belongs to no other service.
    is_configured: bool,
    /// The service that it asks, if it asks one.
    service: Option<ModelService>,
    model: Setting<Option<String>>,
    base_url: Setting<Option<String>>,
    key: Setting<Option<KeySource>>,
    /// The URL of another service that the key belongs to.
    foreign: Option<String>,
    options: ProviderOptions,
}

impl ProvidersArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let settings = self.config.settings(Values::default())?;
        let choice = ProviderChoice::from_settings(&settings);
        if let Err(error) = program::provider(&choice.provider) {
            notice::warning(&error.to_string());
        }
        let rows: Vec<_> = program::providers()
            .into_iter()
            .map(|provider| row(provider, &settings, &choice))
            .collect();
        let mut has_asked = false;
        let mut has_failed = false;
        let mut page = String::new();
        for row in &rows {
            let is_asked = self.check && row.is_configured && row.service.is_some();
            has_asked |= is_asked;
            let answer = if is_asked {
                Some(check::ask(row.provider, row.options.clone()).await)
            } else {
                None
            };
            has_failed |= answer
                .as_ref()
                .is_some_and(|answer| answer.outcome.is_err());
            if self.json {
                output::json(&document(row, answer.as_ref()))?;
            } else {
                page += &lines(row, answer.as_ref(), stdout::width());
            }
        }
        stdout::page(&page)?;
        if self.check && !has_asked {
            notice::note(
                "no service is configured, so none was asked; set its key, or the setting `provider`",
            );
        }
        Ok(Exit::Problems.when(has_failed))
    }
}

fn row(provider: &'static ProviderSubmission, settings: &Settings, choice: &ProviderChoice) -> Row {
    let program = settings.program();
    let is_chosen = provider.name == choice.provider;
    let mut options = if is_chosen {
        provider_options::from_settings(settings, choice.model.as_deref())
    } else {
        provider_options::general(settings)
    };
    let service = (provider.service)(&options);
    let usual = service.as_ref();
    let model = usual.and_then(|service| service.model.map(str::to_owned));
    let mut model = Setting::from_default(model);
    let mut base_url = Setting::from_default(usual.map(|service| service.base_url.clone()));
    let key = usual.map(|service| KeySource::Environment(service.key_variable.to_owned()));
    let mut key = Setting::from_default(key);
    if is_chosen {
        model = match &program.model {
            Some(named) => named.clone().map(Some),
            None => Setting::from_default(choice.model.clone()),
        };
        base_url.origin = origin_of(&program.base_url);
        key = provider_options::key_source(settings, choice);
    } else {
        options.model.clone_from(&model.value);
    }
    let foreign = ForeignKey::find(settings, choice, provider).map(|key| key.url);
    let has_key = key.value.as_ref().is_some_and(KeySource::is_found);
    Row {
        provider,
        chosen: is_chosen.then(|| origin_of(&program.provider)),
        // A check must not send the key of a gateway to the public service.
        is_configured: foreign.is_none() && (is_chosen || has_key),
        service,
        model,
        base_url,
        key,
        foreign,
        options,
    }
}

fn origin_of<T>(setting: &Option<Setting<T>>) -> Origin {
    let origin = setting.as_ref().map(|setting| setting.origin.clone());
    origin.unwrap_or_default()
}

fn document(row: &Row, answer: Option<&Answer>) -> Value {
    fn setting<T: Document>(setting: &Setting<Option<T>>) -> Value {
        let value = setting.value.as_ref();
        json!({"value": value.map(Document::document), "origin": setting.origin.document()})
    }
    let mut document = json!({
        "name": row.provider.name,
        "description": row.provider.description,
        "chosen": row.chosen.is_some(),
        "configured": row.is_configured,
    });
    if let Some(origin) = &row.chosen {
        document["origin"] = origin.document();
    }
    if let Some(service) = &row.service {
        document["needs_key"] = service.needs_key.into();
        document["model"] = setting(&row.model);
        document["base_url"] = setting(&row.base_url);
        document["key"] = setting(&row.key);
        if let Some(url) = &row.foreign {
            document["key"]["value"]["belongs_to"] = url.as_str().into();
        }
    }
    if let Some(Answer { outcome, time }) = answer {
        document["check"] = match outcome {
            Ok(()) => json!({"ok": true, "duration_ms": time.as_millis()}),
            Err(error) => {
                json!({"ok": false, "duration_ms": time.as_millis(), "error": error.to_string()})
            }
        };
    }
    document
}

/// Returns the provider as it is shown: a heading, and a line for each setting.
fn lines(row: &Row, answer: Option<&Answer>, width: usize) -> String {
    let state = match (&row.chosen, row.is_configured, row.service.is_some()) {
        (Some(Origin::Default), _, _) => paint(GOOD, " (chosen)"),
        (Some(origin), _, _) => paint(GOOD, format!(" (chosen by {origin})")),
        (_, _, false) => String::new(),
        (_, true, _) => paint(GOOD, " (configured)"),
        (_, false, _) => paint(FAINT, " (not configured)"),
    };
    let mut table = Table::new([FAINT, Style::new()], 2);
    let mut push = |name: &str, text: String| table.push([name.to_owned(), text]);
    push("about", visible(row.provider.description).into_owned());
    if let Some(service) = &row.service {
        let key = row.key.value.as_ref();
        let key = key.map(|key| key_line(key, row.foreign.as_deref(), service.needs_key));
        push(
            "model",
            add_origin(row.model.value.as_deref(), &row.model.origin),
        );
        push(
            "URL",
            add_origin(row.base_url.value.as_deref(), &row.base_url.origin),
        );
        push("key", add_origin(key.as_deref(), &row.key.origin));
    }
    if let Some(Answer { outcome, time }) = answer {
        let time = duration::format(*time);
        push(
            "check",
            match outcome {
                Ok(()) => format!("{} answered in {time}", paint(GOOD, "ok:")),
                Err(error) => format!("{} {}", paint(BAD, "failed:"), visible(&error.to_string())),
            },
        );
    }
    format!(
        "{}{state}\n{}",
        paint(STRONG, row.provider.name),
        table.wrap(width)
    )
}

fn add_origin(text: Option<&str>, origin: &Origin) -> String {
    let text = visible(text.unwrap_or("-")).into_owned();
    if *origin == Origin::Default {
        text
    } else {
        format!("{text} {}", paint(FAINT, format!("({origin})")))
    }
}

fn key_line(source: &KeySource, foreign: Option<&str>, is_needed: bool) -> String {
    let found = match (source.is_found(), foreign, is_needed) {
        (true, Some(url), _) => &format!("the key of {}", visible(url)),
        (true, None, _) => "set",
        (false, _, true) => "not set",
        (false, _, false) => "not set, and not needed",
    };
    match source {
        KeySource::Environment(name) => format!("{name}, {found}"),
        KeySource::File(path) => format!("{}, {found}", path.display()),
        _ => found.to_owned(),
    }
}
