//! Compares two lists of definitions.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tools::protocol::ToolNames;
use tools::{Effects, Target, Tool, ToolName};

use super::difference::{Compatibility, DefinitionChange, Difference};
use super::leaves::leaves;
use super::schema::{self, Proofs};

/// Returns the differences between two lists of definitions, in the order of the names. Equal lists have none, and two different
/// definitions of a tool have at least one.
pub(super) fn compare(old: &[Tool], new: &[Tool]) -> Vec<Difference> {
    let holder = |name: &str| ToolNames::holder(new, |tool| tool.into(), name);
    let mut differences = Vec::new();
    for tool in old {
        let mut add = |place: &str, change, verdict| {
            differences.push(Difference {
                tool: tool.name.clone(),
                place: place.to_owned(),
                verdict,
                change,
            });
        };
        let now = holder(&tool.name);
        for name in &tool.was {
            if now.is_none_or(|now| holder(name).is_none_or(|holder| holder.name != now.name)) {
                add(
                    "",
                    DefinitionChange::FormerNameRemoved { name: name.clone() },
                    Compatibility::Incompatible,
                );
            }
        }
        match now {
            None => add(
                "",
                DefinitionChange::ToolRemoved,
                Compatibility::Incompatible,
            ),
            Some(now) => of_tool(tool, now, &mut add),
        }
    }
    for tool in new {
        let mut add = |change: DefinitionChange| {
            let verdict = change.verdict();
            differences.push(Difference {
                tool: tool.name.clone(),
                place: String::new(),
                verdict,
                change,
            });
        };
        if !old
            .iter()
            .any(|old| holder(&old.name).is_some_and(|holder| holder.name == tool.name))
        {
            add(DefinitionChange::ToolAdded);
            added_names(None, tool).into_iter().for_each(add);
        }
    }
    differences.sort_by(|a, b| (&a.tool, a.verdict, &a.place).cmp(&(&b.tool, b.verdict, &b.place)));
    differences
}

/// Returns the former names of a tool that are new for the tool `old`, or for all if there is no such tool.
fn added_names(old: Option<&Tool>, new: &Tool) -> Vec<DefinitionChange> {
    let is_known = |name: &&ToolName| {
        old.is_some_and(|old| ToolNames::from(old).iter().any(|known| known == *name))
    };
    let added = new.was.iter().filter(|name| !is_known(name));
    added
        .map(|name| DefinitionChange::FormerNameAdded { name: name.clone() })
        .collect()
}

/// Reports the differences between two definitions of a tool.
fn of_tool(old: &Tool, new: &Tool, add: &mut impl FnMut(&str, DefinitionChange, Compatibility)) {
    let mut by_kind = |place: &str, change: DefinitionChange| {
        let verdict = change.verdict();
        add(place, change, verdict);
    };
    if old.name != new.name {
        by_kind(
            "",
            DefinitionChange::ToolRenamed {
                to: new.name.clone(),
            },
        );
    }
    for added in added_names(Some(old), new) {
        by_kind("", added);
    }
    for (place, is_same) in [
        ("/description", old.description == new.description),
        ("/title", old.title == new.title),
        ("/examples", old.examples == new.examples),
    ] {
        if !is_same {
            by_kind(place, DefinitionChange::TextChanged);
        }
    }
    of_effects(old, new, &mut by_kind);
    let rest = |tool: &Tool| {
        let Tool {
            limits,
            audit,
            tags,
            ..
        } = tool;
        [
            ("/limits", json!(limits)),
            ("/audit", json!(audit)),
            ("/tags", json!(tags)),
        ]
    };
    for ((place, old), (_, new)) in rest(old).into_iter().zip(rest(new)) {
        leaves(place, &old, &new, &mut by_kind);
    }
    match (&old.output, &new.output) {
        (Some(old), Some(new)) => schema::compare("/output", old, new, Proofs::NONE, add),
        (None, None) => {}
        (old, new) => by_kind(
            "/output",
            DefinitionChange::changed(old.as_ref(), new.as_ref()),
        ),
    }
    schema::compare(
        "/parameters",
        &old.parameters,
        &new.parameters,
        Proofs::ALL,
        add,
    );
}

fn of_effects(old: &Tool, new: &Tool, add: &mut impl FnMut(&str, DefinitionChange)) {
    let place = "/effects";
    let undeclared = || "anything, because no effects are declared".to_owned();
    match (old.effects.is_undeclared(), new.effects.is_undeclared()) {
        (false, true) => {
            return add(
                place,
                DefinitionChange::EffectAdded {
                    effect: undeclared(),
                },
            );
        }
        // Undeclared effects include all others.
        (true, false) => {
            return add(
                place,
                DefinitionChange::EffectRemoved {
                    effect: undeclared(),
                },
            );
        }
        _ => {}
    }
    let [before, after] = [old, new].map(listed);
    for effect in after.difference(&before) {
        add(
            place,
            DefinitionChange::EffectAdded {
                effect: effect.clone(),
            },
        );
    }
    for effect in before.difference(&after) {
        add(
            place,
            DefinitionChange::EffectRemoved {
                effect: effect.clone(),
            },
        );
    }
    // Derived idempotence changes with the effects above.
    let declared =
        |tool: &Tool| matches!(&tool.effects, Effects::Declared(declared) if declared.idempotent);
    let [old, new] = [old, new].map(|tool| Some(Value::Bool(declared(tool))));
    if old != new {
        add(
            "/effects/idempotent",
            DefinitionChange::Changed { old, new },
        );
    }
}

/// Returns the effects of a tool. Unbounded effects have a target with the name of the tool.
fn listed(tool: &Tool) -> BTreeSet<String> {
    let unbounded = Target::unbounded(&tool.name);
    let targets = tool
        .effects
        .targets(&tool.name, &tool.parameters, &json!({}));
    let unbounded = targets
        .is_ok_and(|targets| targets == [unbounded.clone()])
        .then(|| unbounded.to_string());
    let Effects::Declared(declared) = &tool.effects else {
        return unbounded.into_iter().collect();
    };
    let templates = declared
        .templates()
        .map(|(access, template)| format!("{access} {template}"));
    templates
        .chain(declared.open_world.then(|| "open world".to_owned()))
        .chain(unbounded)
        .collect()
}
