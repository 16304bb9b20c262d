//! Compares two lists of definitions.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tools::protocol::ToolNames;
use tools::{Effects, Tool, ToolName};

use super::difference::{Change, Difference};
use super::schema;

/// Returns the differences between two lists of definitions, in the order of the names. Equal lists have none, and two different
/// definitions of a tool have at least one.
pub(super) fn compare(old: &[Tool], new: &[Tool]) -> Vec<Difference> {
    let named = |name: &ToolName| new.iter().find(|tool| tool.name == *name);
    let answering = |name: &ToolName| named(name).or_else(|| new.iter().find(|tool| tool.was.contains(name)));
    let mut differences = Vec::new();
    for tool in old {
        let mut difference = |change| differences.push(Difference::new(&tool.name, "", change));
        for name in tool.was.iter().filter(|name| answering(name).is_none()) {
            difference(Change::FormerNameRemoved { name: name.clone() });
        }
        let Some(now) = answering(&tool.name) else {
            difference(Change::ToolRemoved);
            continue;
        };
        if now.name != tool.name {
            difference(Change::ToolRenamed { to: now.name.clone() });
        }
        differences.extend(of_tool(tool, now));
    }
    for tool in new {
        let is_known = |old: &Tool| ToolNames::from(tool).iter().any(|name| *name == old.name);
        if !old.iter().any(is_known) {
            differences.push(Difference::new(&tool.name, "", Change::ToolAdded));
        }
    }
    differences.sort_by(|a, b| (&a.tool, a.verdict, &a.place).cmp(&(&b.tool, b.verdict, &b.place)));
    differences
}

/// Returns the differences between two definitions of a tool, apart from the names.
fn of_tool(old: &Tool, new: &Tool) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |place: &str, change| found.push((place.to_owned(), change));
    if old.description != new.description {
        add("/description", Change::TextChanged);
    }
    if old.title != new.title {
        add("/title", Change::TextChanged);
    }
    if old.examples != new.examples {
        add("/examples", Change::TextChanged);
    }
    of_effects(&old.effects, &new.effects, &mut add);
    let rest = |tool: &Tool| {
        let Tool { output, limits, audit, tags, .. } = tool;
        [("/output", json!(output)), ("/limits", json!(limits)), ("/audit", json!(audit)), ("/tags", json!(tags))]
    };
    for ((place, old), (_, new)) in rest(old).into_iter().zip(rest(new)) {
        leaves(place, &old, &new, &mut add);
    }
    schema::compare("/parameters", &old.parameters, &new.parameters, &mut add);
    let is_same = Tool { name: new.name.clone(), was: new.was.clone(), ..old.clone() }.digest() == new.digest();
    if found.is_empty() && !is_same {
        found.push((String::new(), Change::Changed { old: None, new: None }));
    }
    found.into_iter().map(|(place, change)| Difference::new(&old.name, place, change)).collect()
}

fn of_effects(old: &Effects, new: &Effects, add: &mut impl FnMut(&str, Change)) {
    let place = "/effects";
    let undeclared = || "anything, because no effects are declared".to_owned();
    match (old.is_undeclared(), new.is_undeclared()) {
        (true, true) => return,
        (false, true) => return add(place, Change::EffectAdded { effect: undeclared() }),
        // Undeclared effects include all others.
        (true, false) => return add(place, Change::EffectRemoved { effect: undeclared() }),
        (false, false) => {}
    }
    let [before, after] = [old, new].map(listed);
    for effect in after.difference(&before) {
        add(place, Change::EffectAdded { effect: effect.clone() });
    }
    for effect in before.difference(&after) {
        add(place, Change::EffectRemoved { effect: effect.clone() });
    }
    // Derived idempotence changes with the effects above.
    let declared = |effects: &Effects| matches!(effects, Effects::Declared(declared) if declared.idempotent);
    let [old, new] = [old, new].map(|effects| Some(Value::Bool(declared(effects))));
    if old != new {
        add("/effects/idempotent", Change::Changed { old, new });
    }
}

fn listed(effects: &Effects) -> BTreeSet<String> {
    let Effects::Declared(declared) = effects else { return BTreeSet::new() };
    let templates = declared.templates().map(|(access, template)| format!("{access} {template}"));
    templates.chain(declared.open_world.then(|| "open world".to_owned())).collect()
}

/// Compares values by their fields. Lists are compared as a whole.
fn leaves(place: &str, old: &Value, new: &Value, add: &mut impl FnMut(&str, Change)) {
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                let place = format!("{place}/{}", schema::escaped(key));
                match (before.get(key), after.get(key)) {
                    (Some(old), Some(new)) => leaves(&place, old, new, add),
                    (old, new) => add(&place, Change::Changed { old: old.cloned(), new: new.cloned() }),
                }
            }
        }
        (old, new) if old != new => {
            add(place, Change::Changed { old: Some(old.clone()), new: Some(new.clone()) });
        }
        _ => {}
    }
}
