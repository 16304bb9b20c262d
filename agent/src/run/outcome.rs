//! [`Outcome`] and [`Summary`]: how a run ended, and what it took.

use serde::{Deserialize, Serialize};

use crate::{Stop, Usage};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The model had nothing more to call.
    Answer {
        /// What it said last.
        text: String,
        /// Why it stopped.
        stop: Stop,
    },
    /// The model was asked as often as allowed. The calls of its last turn have their results.
    StepBudget {
        /// How often it was allowed to be asked.
        max_steps: u32,
    },
    /// Somebody took it back.
    Cancelled,
    /// The provider or the machinery around the tools failed.
    Failed {
        /// What happened.
        message: String,
    },
}

/// What a run took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// How it ended.
    pub outcome: Outcome,
    /// How often the model was asked and answered.
    pub steps: u32,
    /// How many calls it made.
    pub calls: u32,
    /// How many of them have an error for a result.
    pub failed_calls: u32,
    /// What its turns took together, where the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}
