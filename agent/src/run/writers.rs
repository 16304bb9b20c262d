//! [`Writers`]: the models that wrote a conversation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Run;
use crate::models::ModelChoice;
use crate::provider::ProviderInfo;

/// The names of models, each at the position of the first message that it wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Writers(BTreeMap<usize, String>);

impl Writers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the writers of a conversation with more or fewer messages in front.
    pub(crate) fn moved(&self, moved: impl Fn(usize) -> usize) -> Self {
        let moved = |(at, model): (&usize, &String)| (moved(*at), model.clone());
        Self(self.0.iter().map(moved).collect())
    }
}

impl Run {
    /// Returns the models that wrote the conversation, such as `openai/gpt-5.1`, in the order of its messages. Each is at the position of
    /// its first message, and wrote all turns up to the next one. Turns of a provider without a model have none.
    pub fn models(&self) -> impl Iterator<Item = (usize, &str)> {
        let writers = self.writers.0.iter();
        writers.map(|(at, model)| (*at, model.as_str()))
    }

    /// Records the model that writes the next message.
    pub(crate) fn record_writer(&mut self, about: &ProviderInfo) {
        if about.model.is_none() {
            return;
        }
        let model = ModelChoice::from_info(about).to_string();
        let at = self.messages().len();
        if self.models().last().is_none_or(|(_, last)| last != model) {
            self.writers.0.insert(at, model);
        }
    }
}
