//! `todo.write` and `todo.read`: the plan of the session.

use tools::{ToolContext, ToolError, join, tool};

use crate::driver::ActiveRun;
use crate::event::Event;
use crate::plan::{MAX_PLAN_ITEMS, Plan, PlanItem, PlanStatus};

/// Replaces your plan for this session: the steps of the task with their status. The user sees it.
///
/// Use it for a task of several steps: write the steps first, and write the whole plan again when a status changes. An empty list
/// removes the plan.
// Pure: a plan is a part of the conversation. It touches nothing outside of the session, and no tool acts on it.
#[tool(
    name = "todo.write",
    title = "Write the plan",
    pure,
    needs = Plan,
    tags = ["session"],
    example({"items": [{"text": "Find it", "status": "done"}, {"text": "Mend it"}]}),
    example({"items": []}),
)]
pub(crate) async fn write(
    cx: &ToolContext,
    /// All steps, in order.
    #[schemars(length(max = MAX_PLAN_ITEMS))]
    items: Vec<PlanItem>,
) -> Result<String, ToolError> {
    let counted = counts(&items);
    if cx.need::<Plan>()?.set(items.clone())
        && let Some(run) = cx.service::<ActiveRun>()
    {
        run.send(|| Event::PlanChanged { items });
    }
    Ok(counted)
}

/// Returns your plan for this session, as last written.
#[tool(
    name = "todo.read",
    title = "Read the plan",
    pure,
    needs = Plan,
    tags = ["session"],
    example({}),
)]
pub(crate) async fn read(cx: &ToolContext) -> Result<String, ToolError> {
    let plan = cx.need::<Plan>()?;
    Ok(format!("{}\n{plan}", counts(&plan.items()))
        .trim_end()
        .to_owned())
}

/// Returns the number of steps by status, such as `3 steps: 1 done, 1 active, 1 open`.
fn counts(items: &[PlanItem]) -> String {
    if items.is_empty() {
        return "the plan is empty".to_owned();
    }
    let count = |status| items.iter().filter(|item| item.status == status).count();
    let counted = [PlanStatus::Done, PlanStatus::Active, PlanStatus::Open]
        .map(|status| (count(status), status.word()));
    let parts = counted.iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, word)| format!("{count} {word}"));
    let steps = if items.len() == 1 { "step" } else { "steps" };
    format!("{} {steps}: {}", items.len(), join(parts, ", "))
}
