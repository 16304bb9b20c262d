//! [`Remote`]: models behind a service, and their registration.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::provider::is_plain_url;
use agent::{KeySource, Provider, ProviderError, ProviderOptions, ProviderSubmission, Request, TextReader, TurnFuture};
use secrecy::SecretString;
use tools::source;

use crate::adapter::{Format, Model};
use crate::attempt::{Failure, repeated};
use crate::{Patience, key};

/// A model behind an HTTP service.
///
/// ```no_run
/// use agent::ProviderOptions;
/// use agent_rig::Remote;
///
/// let options = ProviderOptions::new().with_model("qwen3").with_base_url("http://localhost:11434/v1");
/// let model = Remote::openai(&options)?;
/// # Ok::<(), agent::ProviderError>(())
/// ```
pub struct Remote {
    format: Format,
    name: String,
    base_url: Option<String>,
    model: Model,
    streaming: bool,
    patience: Patience,
}

impl Remote {
    /// A model of OpenAI, or of any service with its chat completions. The key is in `OPENAI_API_KEY` where the options do
    /// not say; with a base URL there may be none.
    ///
    /// # Errors
    /// [`ProviderError::Options`] when there is no model or no key, or the base URL is none.
    pub fn openai(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Format::OpenAi, options)
    }

    /// A model of Anthropic, or of a service with its messages. The key is in `ANTHROPIC_API_KEY` where the options do not
    /// say.
    ///
    /// # Errors
    /// As [`openai`](Self::openai).
    pub fn anthropic(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Format::Anthropic, options)
    }

    fn new(format: Format, options: &ProviderOptions) -> Result<Self, ProviderError> {
        let refused =
            |reason: &str| ProviderError::Options { provider: format.name().to_owned(), reason: reason.to_owned() };
        let name = options.model.clone().filter(|model| !model.trim().is_empty());
        let name = name.ok_or_else(|| refused("it needs the name of a model; give one"))?;
        let base_url = options.base_url.clone();
        if base_url.as_deref().is_some_and(|url| !is_plain_url(url)) {
            return Err(refused("its base URL has to be http(s)://host/path, without a user, a query or a fragment"));
        }
        let key = key_of(format, options)?;
        let patience = options.patience.unwrap_or_default();
        let model = Model::new(format, &name, base_url.as_deref(), key, &patience)?;
        let streaming = options.streaming.unwrap_or(true);
        Ok(Self { format, name, base_url, model, streaming, patience })
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "openai",
        description: "OpenAI, or any service with its chat completions (--base-url)",
        source: source!(),
        create: |options| Ok(Arc::new(Remote::openai(options)?)),
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "anthropic",
        description: "Anthropic",
        source: source!(),
        create: |options| Ok(Arc::new(Remote::anthropic(options)?)),
    }
}

impl Provider for Remote {
    fn name(&self) -> &str {
        self.format.name()
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(async move {
            let names = request.tools.wire_names();
            // What was told cannot be taken back, so a turn whose text has begun is not asked for again.
            let is_told = AtomicBool::new(false);
            let told = |text: &str| {
                is_told.store(true, Ordering::Relaxed);
                request.reader.iter().for_each(|reader| reader.read(text));
            };
            let reader = (self.streaming && request.reader.is_some()).then(|| TextReader::new(&told));
            let attempt = || async {
                let turn = self.model.turn(&request, names, self.streaming, reader).await;
                turn.map_err(|failure| Failure {
                    may_pass: failure.may_pass && !is_told.load(Ordering::Relaxed),
                    ..failure
                })
            };
            repeated(self.name(), &self.patience, request.deadline, attempt).await
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("provider", &self.format.name())
            .field("model", &self.name)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

fn key_of(format: Format, options: &ProviderOptions) -> Result<SecretString, ProviderError> {
    let usual = format.key_variable();
    match &options.key {
        Some(source) => key::read(format.name(), source),
        // A service of one's own often has no keys.
        None if format == Format::OpenAi && options.base_url.is_some() && std::env::var_os(usual).is_none() => {
            Ok(SecretString::default())
        }
        None => key::read(format.name(), &KeySource::Environment(usual.to_owned())),
    }
}
