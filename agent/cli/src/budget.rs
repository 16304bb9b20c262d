//! The budgets of runs: their limits, prices and shared windows.

#[cfg(feature = "journal")]
mod window;

use agent::{Budget, BudgetLimits, Cost, RepeatLimits, RunOptions};

use crate::config::{ConfigError, Setting, Settings};
use crate::error::Error;

/// Returns the options of a session's runs.
///
/// # Errors
/// Returns an error if money is limited, but the model has no price.
pub(crate) fn run_options(settings: &Settings, model: Option<&str>) -> Result<RunOptions, ConfigError> {
    let repeats = |times: &Setting<u32>| Some(times.value).filter(|times| *times > 0);
    let repeats = RepeatLimits::new(repeats(&settings.repeat_hint), repeats(&settings.repeat_end));
    let mut limits = limits(None, &settings.max_calls, &settings.max_tokens, &settings.max_cost);
    limits.steps = Some(settings.max_steps.value.into());
    limits.time = settings.run_deadline.as_ref().map(|deadline| deadline.value);
    let mut options = RunOptions::new().with_limits(limits).with_repeats(repeats);
    options.context_tokens = settings.context_tokens.as_ref().map(|tokens| tokens.value.into());
    let Some(model) = model else { return Ok(options) };
    // A later file precedes an earlier one.
    match settings.prices.iter().rev().find(|price| price.value.model == model) {
        Some(price) => Ok(options.with_price(price.value.price())),
        None => match money_limit(settings) {
            Some((key, limit)) => {
                let (origin, key, reason) = (limit.origin.clone(), key.to_owned(), needs_price(model));
                Err(ConfigError::Value { origin, key, reason })
            }
            None => Ok(options),
        },
    }
}

/// Returns the first limit on money, with its key. Each model then needs a price.
pub(crate) fn money_limit(settings: &Settings) -> Option<(&'static str, &Setting<Cost>)> {
    let limits = [
        ("limits.max_cost", &settings.max_cost),
        ("daily.max_cost", &settings.daily_cost),
        ("monthly.max_cost", &settings.monthly_cost),
    ];
    limits.into_iter().find_map(|(key, limit)| Some((key, limit.as_ref()?)))
}

/// Returns the problem of a model without a price, and the next step.
pub(crate) fn needs_price(model: &str) -> String {
    format!(
        "needs the price of the model {model}; add [[prices]] with model = {model:?}, input and output per million tokens"
    )
}

/// Returns the budget that all sessions share. Returns `None` if no window has a limit.
pub(crate) fn shared(settings: &Settings) -> Result<Option<Budget>, Error> {
    let day =
        limits(settings.daily_steps.as_ref(), &settings.daily_calls, &settings.daily_tokens, &settings.daily_cost);
    let month = limits(
        settings.monthly_steps.as_ref(),
        &settings.monthly_calls,
        &settings.monthly_tokens,
        &settings.monthly_cost,
    );
    let is_unlimited = [day, month].iter().all(|limits| *limits == BudgetLimits::new());
    if is_unlimited { Ok(None) } else { open(day, month).map(Some) }
}

#[cfg(feature = "journal")]
fn open(day: BudgetLimits, month: BudgetLimits) -> Result<Budget, Error> {
    Ok(Budget::from_window(std::sync::Arc::new(window::SharedWindows::open(day, month)?)))
}

#[cfg(not(feature = "journal"))]
fn open(_day: BudgetLimits, _month: BudgetLimits) -> Result<Budget, Error> {
    Err(Error::NoJournal)
}

fn limits(
    steps: Option<&Setting<u32>>,
    calls: &Option<Setting<u32>>,
    tokens: &Option<Setting<u32>>,
    cost: &Option<Setting<Cost>>,
) -> BudgetLimits {
    let number = |limit: &Setting<u32>| u64::from(limit.value);
    let mut limits = BudgetLimits::new();
    limits.steps = steps.map(number);
    limits.calls = calls.as_ref().map(number);
    limits.tokens = tokens.as_ref().map(number);
    limits.cost = cost.as_ref().map(|cost| cost.value);
    limits
}
