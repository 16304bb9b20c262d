//! The budgets of runs: their limits, prices and shared windows.

#[cfg(feature = "journal")]
mod window;

use agent::{Budget, BudgetLimits, BudgetScope, Cost, Exhausted, RepeatLimits, Resource, RunOptions};

use crate::config::{ConfigError, Setting, Settings};
use crate::duration;
use crate::error::Error;
use crate::wording::counted;

/// The period of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Period {
    Day,
    Month,
}

/// The limits of a window, which all sessions share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) period: Period,
    pub(crate) limits: BudgetLimits,
}

impl Period {
    /// Returns the name of the window in an [`Exhausted`].
    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// Returns the table of its limits in a settings file.
    fn table(self) -> &'static str {
        match self {
            Self::Day => "daily",
            Self::Month => "monthly",
        }
    }
}

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
    let options = RunOptions::new().with_limits(limits).with_repeats(repeats);
    let Some(model) = model else { return Ok(options) };
    // A later file precedes an earlier one.
    match settings.prices.iter().rev().find(|price| price.value.model == model) {
        Some(price) => Ok(options.with_price(price.value.price())),
        None => check_unpriced(settings, model).map(|()| options),
    }
}

/// Returns an error if money is limited.
fn check_unpriced(settings: &Settings, model: &str) -> Result<(), ConfigError> {
    let limits = [
        ("limits.max_cost", &settings.max_cost),
        ("daily.max_cost", &settings.daily_cost),
        ("monthly.max_cost", &settings.monthly_cost),
    ];
    let limited = limits.into_iter().find_map(|(key, limit)| Some((key, limit.as_ref()?)));
    limited.map_or(Ok(()), |(key, limit)| {
        let reason = format!(
            "needs the price of the model {model}; add [[prices]] with model = {model:?}, input and output per million tokens"
        );
        Err(ConfigError::Value { origin: limit.origin.clone(), key: key.to_owned(), reason })
    })
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
    let windows = [Window { period: Period::Day, limits: day }, Window { period: Period::Month, limits: month }];
    let windows: Vec<_> = windows.into_iter().filter(|window| window.limits != BudgetLimits::new()).collect();
    if windows.is_empty() { Ok(None) } else { open(windows).map(Some) }
}

#[cfg(feature = "journal")]
fn open(windows: Vec<Window>) -> Result<Budget, Error> {
    Ok(Budget::from_window(std::sync::Arc::new(window::SharedWindows::open(windows)?)))
}

#[cfg(not(feature = "journal"))]
fn open(_windows: Vec<Window>) -> Result<Budget, Error> {
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

/// Says that a run ended at a limit, and how to raise it.
pub(crate) fn end(exhausted: &Exhausted) -> String {
    let Exhausted { resource, limit, scope } = exhausted;
    let key = match resource {
        Resource::Steps => "max_steps",
        Resource::Calls => "max_calls",
        Resource::Tokens => "max_tokens",
        _ => "max_cost",
    };
    if let BudgetScope::Window(name) = scope {
        let period = [Period::Day, Period::Month].into_iter().find(|period| period.name() == name);
        let table = period.map_or("limits", Period::table);
        return format!("no answer: {exhausted}; wait for the next {name}, or raise {table}.{key}");
    }
    match resource {
        Resource::Steps => format!("no answer after {}; allow more steps with --max-steps", counted(*limit, "step")),
        Resource::Calls => format!("no answer after {}; allow more calls with --max-calls", counted(*limit, "call")),
        Resource::Tokens => format!("no answer after {}; allow more with --max-tokens", counted(*limit, "token")),
        Resource::Time => {
            let time = duration::shown(std::time::Duration::from_millis(*limit));
            format!("no answer after {time}; allow more time with --deadline")
        }
        _ => format!("no answer: {exhausted}; raise limits.{key}"),
    }
}
