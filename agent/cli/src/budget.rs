//! The budgets of runs: their limits, prices and shared windows.

use agent::{Budget, BudgetLimits, Cost, ProviderInfo, RepeatLimits, RunOptions, SharedWindow};
use host::CommandError;
use tools::ToolContext;

use crate::config::{ProgramSettings as _, Setting, Settings, SettingsError};
use crate::error::Error;
use crate::exit::Exit;
use crate::journal::no_records;

/// Returns the options of a session's runs with a provider.
///
/// # Errors
/// Returns an error if money is limited, but the model has no price.
pub(crate) fn run_options(
    settings: &Settings,
    provider: &ProviderInfo,
) -> Result<RunOptions, SettingsError> {
    let end = Some(settings.program().repeat_end.value).filter(|times| *times > 0);
    let repeats = RepeatLimits::new(Some(RepeatLimits::DEFAULT_HINT), end);
    let mut limits = limits(
        &settings.program().max_calls,
        &settings.program().max_tokens,
        &settings.program().max_cost,
    );
    let program = settings.program();
    limits.steps = Some(program.max_steps.value.into());
    limits.time = program.run_deadline.as_ref().map(|deadline| deadline.value);
    let context_tokens = program.context_tokens.as_ref();
    let options = RunOptions {
        limits,
        repeats,
        context_tokens: context_tokens.map(|tokens| tokens.value.into()),
        ..RunOptions::default()
    };
    match (money_limit(settings), &provider.model) {
        (Some((key, limit)), Some(model)) if provider.price.is_none() => {
            Err(SettingsError::value(&limit.origin, key, needs_price(model)))
        }
        _ => Ok(options),
    }
}

/// Returns the first limit on money, with its key. Each model then needs a price, which the settings or its provider know.
pub(crate) fn money_limit(settings: &Settings) -> Option<(&'static str, &Setting<Cost>)> {
    let limits = [
        ("limits.max_cost", &settings.program().max_cost),
        ("daily.max_cost", &settings.program().daily_cost),
        ("monthly.max_cost", &settings.program().monthly_cost),
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
pub(crate) fn shared(settings: &Settings, cx: &ToolContext) -> Result<Option<Budget>, Error> {
    let day = limits(
        &settings.program().daily_calls,
        &settings.program().daily_tokens,
        &settings.program().daily_cost,
    );
    let month = limits(
        &settings.program().monthly_calls,
        &settings.program().monthly_tokens,
        &settings.program().monthly_cost,
    );
    let is_unlimited = [day, month]
        .iter()
        .all(|limits| *limits == BudgetLimits::default());
    if is_unlimited {
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
        calls: calls.as_ref().map(|calls| calls.value.into()),
        tokens: tokens.as_ref().map(|tokens| tokens.value.into()),
        cost: cost.as_ref().map(|cost| cost.value),
        ..BudgetLimits::default()
    }
}
