//! The budgets of runs: their limits, prices and shared windows.

use agent::{Budget, BudgetLimits, Cost, ProviderInfo, RunOptions, SharedWindow};
use host::{CommandError, Exit};
use tools::ToolContext;

use crate::config::{ProgramSettings as _, Setting, Settings, SettingsError, value};
use crate::error::Error;
use crate::journal::no_records;

/// Returns the options of a session's runs with a provider.
///
/// # Errors
/// Returns an error if money is limited, but the model has no price.
pub(crate) fn run_options(
    settings: &Settings,
    provider: &ProviderInfo,
) -> Result<RunOptions, SettingsError> {
    let program = settings.program();
    let mut limits = limits(&program.max_calls, &program.max_tokens, &program.max_cost);
    limits.steps = Some(program.max_steps.value.into());
    limits.time = value(&program.run_deadline);
    let options = RunOptions {
        limits,
        context_tokens: value(&program.context_tokens).map(u64::from),
        ..RunOptions::default()
    };
    match (money_limit(settings), &provider.model) {
        // Without a price nothing counts as spent, so that the limit would not hold.
        (Some((key, limit)), Some(model)) if provider.price.is_none() => {
            Err(SettingsError::value(&limit.origin, key, needs_price(model)))
        }
        _ => Ok(options),
    }
}

/// Returns the first limit on money, with its key. Each model then needs a price, which the settings or its provider know.
pub(crate) fn money_limit(settings: &Settings) -> Option<(&'static str, &Setting<Cost>)> {
    let program = settings.program();
    let limits = [
        ("limits.max_cost", &program.max_cost),
        ("daily.max_cost", &program.daily_cost),
        ("monthly.max_cost", &program.monthly_cost),
    ];
    limits
        .into_iter()
        .find_map(|(key, limit)| Some((key, limit.as_ref()?)))
}

/// Returns the problem of a model without a price, and the next step.
pub(crate) fn needs_price(model: &str) -> String {
    format!(
        "needs the price of the model {model}; add [[prices]] with model = {model:?}, input and output per million tokens"
    )
}

/// Returns the budget that all sessions share. Returns `None` if no window has a limit.
pub(crate) fn load_shared(settings: &Settings, cx: &ToolContext) -> Result<Option<Budget>, Error> {
    let keys = settings.program();
    let day = limits(&keys.daily_calls, &keys.daily_tokens, &keys.daily_cost);
    let month = limits(
        &keys.monthly_calls,
        &keys.monthly_tokens,
        &keys.monthly_cost,
    );
    if [day, month] == [BudgetLimits::default(); 2] {
        return Ok(None);
    }
    let SharedWindow(open) = *cx.service().ok_or_else(no_records)?;
    let window = open(day, month).map_err(|error| CommandError::new(Exit::Usage, error))?;
    Ok(Some(Budget::from_window(window)))
}

fn limits(
    calls: &Option<Setting<u32>>,
    tokens: &Option<Setting<u32>>,
    cost: &Option<Setting<Cost>>,
) -> BudgetLimits {
    BudgetLimits {
        calls: value(calls).map(u64::from),
        tokens: value(tokens).map(u64::from),
        cost: value(cost),
        ..BudgetLimits::default()
    }
}
