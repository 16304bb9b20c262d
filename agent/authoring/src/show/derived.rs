//! The properties derived from a tool's effects, as text.

use anstyle::Style;
use tools::protocol::ApprovalDefault;
use tools::{Access, Effects, Tool, join};

use host::style::FAINT;
use host::table::Table;
use tools::visible::visible;

/// Returns a table with one property per line.
pub(super) fn derive_table(tool: &Tool) -> Table<2> {
    let mut table = Table::new([FAINT, Style::new()], 2);
    let mut fact =
        |name: &str, text: &str| table.push([name.to_owned(), visible(text).into_owned()]);
    let effects = &tool.effects;
    fact("permission", &permission(tool));
    fact("approval", approval(effects));
    fact("parallelism", parallelism(effects));
    fact(
        "retries",
        if effects.is_idempotent() {
            "allowed"
        } else {
            "none: a call runs at most once"
        },
    );
    fact("MCP hints", &hints(effects));
    table
}

fn permission(tool: &Tool) -> String {
    let mut needed = String::new();
    if let Effects::Declared(declared) = &tool.effects {
        let clauses = declared.templates().map(|(access, template)| {
            let text = template.to_string();
            let value = text.split_once(':').map_or("", |(_, value)| value);
            format!("{}:{access}:{value}", template.scheme())
        });
        needed = join(clauses, ", ");
    }
    if needed.is_empty() {
        needed = join(tool.effects.ceiling(&tool.name), ", ");
    }
    if needed.is_empty() {
        "none".to_owned()
    } else {
        needed
    }
}

fn approval(effects: &Effects) -> &'static str {
    match effects.approval_default() {
        ApprovalDefault::Run if reads_hosts(effects) => "not needed if the grant names each host",
        ApprovalDefault::Run => "not needed if granted",
        ApprovalDefault::Ask => "needed, unless a rule or an explicit grant covers the call",
        _ => "needed for each call, unless an allow rule covers it",
    }
}

fn reads_hosts(effects: &Effects) -> bool {
    let Effects::Declared(declared) = effects else {
        return false;
    };
    declared
        .templates()
        .any(|(access, template)| access == Access::Read && template.scheme() == "net")
}

fn parallelism(effects: &Effects) -> &'static str {
    if effects.is_pure() {
        "with any call"
    } else if effects.is_read_only() {
        "with calls that do not write its targets"
    } else {
        "with calls on other targets"
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
        anstream::adapter::strip_str(&derive_table(&tool).wrap(80)).to_string()
    }

    #[test]
    fn each_kind_of_effects_has_its_consequences() {
        for (effects, parts) in [
            (
                json!("pure"),
                [
                    "none",
                    "not needed",
                    "with any call",
                    "allowed",
                    "read-only, not d",
                ],
            ),
            (
                json!({"reads": ["fs:{path}", "clock:now"]}),
                [
                    "fs:read:{path}, clock:read:now",
                    "not needed",
                    "do not write",
                    "allowed",
                    "closed world",
                ],
            ),
            (
                json!({"reads": ["fs:{path}", "net:{url|host}"], "open_world": true}),
                [
                    "net:read:{url|host}",
                    "names each host",
                    "do not write",
                    "allowed",
                    "open world",
                ],
            ),
            (
                json!({"writes": ["fs:{path}"]}),
                [
                    "fs:write:{path}",
                    "unless a rule or an explicit grant",
                    "on other targets",
                    "at most once",
                    "not read-only, not destr",
                ],
            ),
            (
                json!({"destroys": ["fs:{path}"], "idempotent": true}),
                [
                    "fs:destroy:{path}",
                    "for each call",
                    "on other targets",
                    "allowed",
                    "only, destructive, idem",
                ],
            ),
            (
                json!(null),
                [
                    "world:write:t",
                    "for each call",
                    "on other targets",
                    "at most once",
                    "destructive, not idempotent, open",
                ],
            ),
        ] {
            let lines = lines(effects);
            for part in parts {
                assert!(lines.contains(part), "{part:?} is not in\n{lines}");
            }
        }
    }
}
