//! `toolcrib providers`

mod check;

use agent::{KeySource, ProviderOptions, ProviderSubmission};
use anstyle::Style;
use clap::Args;
use serde_json::{Value, json};

use crate::config::{
    ConfigOptions, Document, Origin, ProgramSettings as _, Setting, Settings, Values,
};
use crate::error::Error;
use crate::exit::Exit;
use crate::notice::{self, BAD, FAINT, GOOD, STRONG, styled};
use crate::output;
use crate::program;
use crate::provider_choice::ProviderChoice;
use crate::provider_options::{self, ForeignKey};
use crate::table::Table;
use crate::visible::visible;
use host::duration;

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
    /// True if it asks a service.
    has_service: bool,
    needs_key: bool,
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
        let mut has_failed = false;
        let mut page = String::new();
        for row in &rows {
            let is_asked = self.check && row.is_configured && row.has_service;
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
                page += &lines(row, answer.as_ref(), output::width());
            }
        }
        output::page(&page)?;
        if self.check && !rows.iter().any(|row| row.is_configured && row.has_service) {
            notice::note(
                "no service is configured, so none was asked; set its key, or the setting `provider`",
            );
        }
        Ok(if has_failed {
            Exit::Problems
        } else {
            Exit::Success
        })
    }
}

fn row(provider: &'static ProviderSubmission, settings: &Settings, choice: &ProviderChoice) -> Row {
    let chosen = (provider.name == choice.provider).then(|| {
        settings
            .program()
            .provider
            .as_ref()
            .map(|provider| provider.origin.clone())
            .unwrap_or_default()
    });
    let is_chosen = chosen.is_some();
    let mut options = match is_chosen {
        true => provider_options::from_settings(settings, choice.model.as_deref()),
        false => provider_options::general(settings),
    };
    let service = (provider.service)(&options);
    let usual = service
        .as_ref()
        .map(|service| KeySource::Environment(service.key_variable.to_owned()));
    let (mut model, mut base_url, mut key) = (
        Setting::default(),
        Setting::default(),
        Setting::from_default(usual),
    );
    if let Some(service) = service.as_ref() {
        model.value = service.model.map(str::to_owned);
        base_url.value = Some(service.base_url.clone());
    }
    if is_chosen {
        let named = |setting: &Option<Setting<String>>| Some(setting.clone()?.map(Some));
        model =
            named(&settings.program().model).unwrap_or(Setting::from_default(choice.model.clone()));
        base_url.origin = settings
            .program()
            .base_url
            .as_ref()
            .map(|url| url.origin.clone())
            .unwrap_or_default();
        key = provider_options::key_source(settings, choice);
    } else {
        options.model.clone_from(&model.value);
    }
    let foreign = ForeignKey::find(settings, choice, provider).map(|key| key.url);
    let has_key = foreign.is_none() && key.value.as_ref().is_some_and(KeySource::is_found);
    let (has_service, needs_key) = (
        service.is_some(),
        service.is_some_and(|service| service.needs_key),
    );
    let is_configured = if is_chosen {
        foreign.is_none()
    } else {
        has_key
    };
    Row {
        provider,
        chosen,
        is_configured,
        has_service,
        needs_key,
        model,
        base_url,
        key,
        foreign,
        options,
    }
}

fn document(row: &Row, answer: Option<&Answer>) -> Value {
    fn setting<T: Document>(setting: &Setting<Option<T>>) -> Value {
        let value = setting
            .value
            .as_ref()
            .map_or(Value::Null, Document::document);
        json!({"value": value, "origin": setting.origin.document()})
    }
    let mut key = row
        .key
        .value
        .as_ref()
        .map_or(Value::Null, Document::document);
    if let Some(url) = &row.foreign {
        key["belongs_to"] = url.as_str().into();
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
    if row.has_service {
        document["needs_key"] = row.needs_key.into();
        document["model"] = setting(&row.model);
        document["base_url"] = setting(&row.base_url);
        document["key"] = json!({"value": key, "origin": row.key.origin.document()});
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
    let state = match (&row.chosen, row.is_configured, row.has_service) {
        (Some(Origin::Default), _, _) => styled(GOOD, " (chosen)"),
        (Some(origin), _, _) => styled(GOOD, format!(" (chosen by {origin})")),
        (_, _, false) => String::new(),
        (_, true, _) => styled(GOOD, " (configured)"),
        (_, false, _) => styled(FAINT, " (not configured)"),
    };
    let mut table = Table::new([FAINT, Style::new()], 2);
    table.push([
        "about".to_owned(),
        visible(row.provider.description).into_owned(),
    ]);
    if row.has_service {
        table.push([
            "model".to_owned(),
            noted(row.model.value.as_deref(), &row.model.origin),
        ]);
        table.push([
            "URL".to_owned(),
            noted(row.base_url.value.as_deref(), &row.base_url.origin),
        ]);
        let key = row.key.value.as_ref().map(|key| key_line(key, row));
        table.push(["key".to_owned(), noted(key.as_deref(), &row.key.origin)]);
    }
    if let Some(Answer { outcome, time }) = answer {
        let line = match outcome {
            Ok(()) => format!(
                "{} answered in {}",
                styled(GOOD, "ok:"),
                duration::shown(*time)
            ),
            Err(error) => format!("{} {}", styled(BAD, "failed:"), visible(&error.to_string())),
        };
        table.push(["check".to_owned(), line]);
    }
    format!(
        "{}{state}\n{}",
        styled(STRONG, row.provider.name),
        table.wrapped(width)
    )
}

fn noted(text: Option<&str>, origin: &Origin) -> String {
    let text = visible(text.unwrap_or("-")).into_owned();
    if *origin == Origin::Default {
        text
    } else {
        format!("{text} {}", styled(FAINT, format!("({origin})")))
    }
}

fn key_line(source: &KeySource, row: &Row) -> String {
    let found = match (source.is_found(), &row.foreign, row.needs_key) {
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
