//! Compares two lists of definitions.

use std::collections::BTreeSet;

use serde_json::json;
use tools::protocol::ToolNames;
use tools::{Effects, Tool};

use super::difference::{Difference, Report, Rule};
use super::schema;

/// Returns the differences between two lists of definitions by tool, breaking ones first. Equal lists have none, and two different
/// definitions of a tool have at least one.
pub(super) fn compare(old: &[Tool], new: &[Tool]) -> Vec<Difference> {
    let holder = |name: &str| ToolNames::holder(new, |tool| tool.into(), name);
    let mut differences = Vec::new();
    for tool in old {
        let mut report = Report {
            tool: &tool.name,
            differences: &mut differences,
        };
        let Some(now) = holder(&tool.name) else {
            report.add("", Some(Rule::NameRemoved), Some(&json!(tool.name)), None);
            continue;
        };
        for name in &tool.was {
            if holder(name).is_none_or(|holder| holder.name != now.name) {
                report.add("/was", Some(Rule::NameRemoved), Some(&json!(name)), None);
            }
        }
        compare_definitions(tool, now, &mut report);
    }
    for tool in new {
        let mut held = old.iter().filter_map(|old| holder(&old.name));
        if held.all(|now| now.name != tool.name) {
            let mut report = Report {
                tool: &tool.name,
                differences: &mut differences,
            };
            let names: Vec<_> = ToolNames::from(tool).iter().collect();
            report.add("", None, None, Some(&json!(names)));
        }
    }
    differences.sort_by(|a, b| {
        let [a, b] = [a, b].map(|it| (&it.tool, it.breaking.is_none(), &it.place));
        a.cmp(&b)
    });
    differences
}

fn compare_definitions(old: &Tool, new: &Tool, report: &mut Report<'_>) {
    let [mut before, mut after] = [json!(old), json!(new)];
    let mut take = |key| {
        let fields = [&mut before, &mut after];
        fields.map(|fields| fields.as_object_mut().and_then(|fields| fields.remove(key)))
    };
    let [old_name, new_name] = take("name");
    if old_name != new_name {
        report.add(
            "/name",
            Some(Rule::ToolRenamed),
            old_name.as_ref(),
            new_name.as_ref(),
        );
    }
    take("was");
    let added = new.was.iter();
    let added: Vec<_> = added
        .filter(|name| ToolNames::from(old).iter().all(|known| known != *name))
        .collect();
    if !added.is_empty() {
        report.add("/was", None, None, Some(&json!(added)));
    }
    let [old_effects, new_effects] = take("effects");
    if old_effects != new_effects {
        let rule = are_wider(&new.effects, &old.effects).then_some(Rule::EffectsWidened);
        report.add("/effects", rule, old_effects.as_ref(), new_effects.as_ref());
    }
    take("parameters");
    schema::compare("/parameters", &old.parameters, &new.parameters, report);
    report.add_fields("", &before, &after);
}

/// Returns true if some effect is not among those of `than`.
fn are_wider(effects: &Effects, than: &Effects) -> bool {
    match (list_templates(effects), list_templates(than)) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(templates), Some(known)) => {
            !templates.is_subset(&known) || (effects.is_open_world() && !than.is_open_world())
        }
    }
}

/// Returns the templates of the targets. Returns `None` if the effects are unbounded, and so include all others.
fn list_templates(effects: &Effects) -> Option<BTreeSet<String>> {
    let Effects::Declared(declared) = effects else {
        return effects.is_pure().then(BTreeSet::new);
    };
    let templates = declared.templates();
    let templates = templates.map(|(access, template)| format!("{access} {template}"));
    Some(templates.collect()).filter(|templates: &BTreeSet<_>| !templates.is_empty())
}
