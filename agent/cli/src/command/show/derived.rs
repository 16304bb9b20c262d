//! What follows from a tool's effects, in words.

use anstyle::Style;
use tools::protocol::ApprovalDefault;
use tools::{Effects, Tool};

use crate::notice::FAINT;
use crate::table::Table;
use crate::visible::visible;

/// One line for each thing that follows.
pub(super) fn derived(tool: &Tool) -> Table<2> {
    let mut table = Table::new([FAINT, Style::new()], 2);
    let mut fact = |name: &str, text: &str| table.push([name.to_owned(), visible(text).into_owned()]);
    let effects = &tool.effects;
    fact("needs the grant", &permission(tool));
    fact("by default", approval(effects.approval_default()));
    fact("side by side", company(effects));
    fact("repeated", if effects.is_idempotent() { "where that helps" } else { "never: a call runs at most once" });
    fact("in MCP", &hints(effects));
    table
}

fn permission(tool: &Tool) -> String {
    let mut needed: Vec<String> = match &tool.effects {
        Effects::Declared(declared) => declared
            .templates()
            .map(|(access, template)| {
                let text = template.to_string();
                format!("{}:{access}:{}", template.scheme(), text.split_once(':').map_or("", |(_, value)| value))
            })
            .collect(),
        Effects::Undeclared | Effects::Pure => Vec::new(),
    };
    if needed.is_empty() {
        needed = tool.effects.ceiling(&tool.name).iter().map(ToString::to_string).collect();
    }
    if needed.is_empty() { "none".to_owned() } else { needed.join(", ") }
}

fn approval(caution: ApprovalDefault) -> &'static str {
    match caution {
        ApprovalDefault::Run => "runs without a question, where it is granted",
        ApprovalDefault::Ask => "is asked about, unless a rule or whoever granted it says otherwise",
        _ => "is asked about each time, unless a rule allows exactly this",
    }
}

fn company(effects: &Effects) -> &'static str {
    if effects.is_pure() {
        "with any other call"
    } else if effects.is_read_only() {
        "with any call that does not change what it reads"
    } else {
        "with calls that touch something else"
    }
}

fn hints(effects: &Effects) -> String {
    let hints = effects.annotations();
    let word = |is_so: bool, yes: &'static str, no: &'static str| if is_so { yes } else { no };
    [
        word(hints.read_only_hint, "read-only", "not read-only"),
        word(hints.destructive_hint, "destructive", "not destructive"),
        word(hints.idempotent_hint, "idempotent", "not idempotent"),
        word(hints.open_world_hint, "open world", "closed world"),
    ]
    .join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(effects: serde_json::Value) -> String {
        let tool = Tool::new("t", "Does it.", json!({"type": "object"})).unwrap();
        let tool = tool.with_effects(serde_json::from_value(effects).unwrap());
        anstream::adapter::strip_str(&derived(&tool).wrapped(None)).to_string()
    }

    #[test]
    fn each_kind_of_effects_has_its_consequences() {
        for (effects, parts) in [
            (
                json!("pure"),
                ["none", "without a question", "with any other call", "where that helps", "read-only, not d"],
            ),
            (
                json!({"reads": ["fs:{path}", "clock:now"]}),
                ["fs:read:{path}, clock:read:now", "without a", "does not change", "where that helps", "closed world"],
            ),
            (
                json!({"writes": ["fs:{path}"]}),
                [
                    "fs:write:{path}", "unless a rule or whoever", "touch something else", "never",
                    "not read-only, not destr",
                ],
            ),
            (
                json!({"destroys": ["fs:{path}"], "idempotent": true}),
                [
                    "fs:destroy:{path}", "each time", "touch something else", "where that helps",
                    "only, destructive, idem",
                ],
            ),
            (
                json!(null),
                ["world:write:t", "each time", "touch something else", "never", "destructive, not idempotent, open"],
            ),
        ] {
            let lines = lines(effects);
            for part in parts {
                assert!(lines.contains(part), "{part:?} is not in\n{lines}");
            }
        }
    }
}
