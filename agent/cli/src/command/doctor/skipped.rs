//! Tools that sessions skip, and tools that requests leave out.

use std::collections::{BTreeMap, BTreeSet};

use agent::{Selection, SkipReason, ToolSet};
use tools::protocol::wire::{Format, Strictness};
use tools::{Services, ToolName};

use host::Finding;

/// Returns a finding for each tool with a missing service. A service that a setting would bring is none.
pub(super) fn unmet(services: &Services) -> Vec<Finding> {
    let tools = tools::list();
    let findings = tools.iter().filter_map(|entry| {
        let missing: Vec<_> = (services.unmet(entry.needs()).iter())
            .filter(|need| services.absence(need).is_none())
            .map(|need| need.type_name())
            .collect();
        (!missing.is_empty()).then(|| {
            let missing = missing.join(" and ");
            let message = format!(
                "needs {missing}, which this program does not provide; sessions skip the tool"
            );
            let finding = Finding::new("need", message).for_tool(entry.name());
            finding.with_fix(format!("show {}", entry.name()))
        })
    });
    findings.collect()
}

/// Returns the findings on tools that requests leave out.
pub(super) fn unsent(services: &Services) -> Vec<Finding> {
    let set = ToolSet::new(tools::list(), &Selection::new(), services);
    let skipped = Format::ALL
        .into_iter()
        .flat_map(|format| set.wire(format, Strictness::Relaxed).list_skipped());
    unsent_findings(skipped.map(|tool| (&tool.name, &tool.reason)))
}

/// Returns a finding for each tool and reason, with all formats, and one for each format that takes fewer tools.
fn unsent_findings<'a>(
    skipped: impl Iterator<Item = (&'a ToolName, &'a SkipReason)>,
) -> Vec<Finding> {
    let mut formats = BTreeMap::<_, Vec<_>>::new();
    let mut collisions = BTreeSet::new();
    let mut limits = BTreeMap::new();
    for (name, reason) in skipped {
        match reason {
            SkipReason::Unsendable { format, reason } => {
                formats
                    .entry((name, reason.to_string()))
                    .or_default()
                    .push(format.name());
            }
            SkipReason::Collision(collision) => {
                collisions.insert((name, collision.to_string()));
            }
            SkipReason::RequestLimit { .. } => *limits.entry(reason.to_string()).or_insert(0) += 1,
            _ => {}
        }
    }
    let unsendable = formats.into_iter().map(|((name, reason), formats)| {
        let message = format!(
            "it cannot be sent as {}: {reason}; requests leave the tool out",
            formats.join(", ")
        );
        let finding = Finding::new("wire", message).for_tool(name);
        finding.with_fix(format!("lint {name}"))
    });
    let colliding = collisions.into_iter().map(|(name, reason)| {
        Finding::new("wire", format!("{reason}; requests leave the tool out")).for_tool(name)
    });
    let limited = limits.into_iter().map(|(reason, count)| {
        Finding::new(
            "wire",
            format!("{reason}; requests with all tools leave out {count}"),
        )
    });
    unsendable.chain(colliding).chain(limited).collect()
}

#[cfg(all(test, feature = "builtin"))]
mod tests {
    use tools::protocol::wire::schema::Unsendable;

    use super::*;

    #[test]
    fn tools_that_requests_leave_out_are_reported_once_per_reason() {
        let skipped = |name: &str, reason| (ToolName::new(name).unwrap(), reason);
        let refused = |format| SkipReason::Unsendable {
            format,
            reason: Unsendable::NotAnObject,
        };
        let limit = || SkipReason::RequestLimit {
            format: Format::OpenAiChat,
            most: 128,
        };
        let skipped = [
            skipped("a", refused(Format::OpenAiChat)),
            skipped("a", refused(Format::Gemini)),
            skipped("b", refused(Format::Gemini)),
            skipped("y", limit()),
            skipped("z", limit()),
        ];
        let findings = unsent_findings(skipped.iter().map(|(name, reason)| (name, reason)));
        let tools: Vec<_> = findings
            .iter()
            .map(|finding| finding.tool.as_deref())
            .collect();
        assert_eq!(tools, [Some("a"), Some("b"), None]);
        assert!(
            findings[0].message.contains("openai-chat, gemini"),
            "{}",
            findings[0].message
        );
        assert!(
            findings[2].message.contains("128") && findings[2].message.contains("out 2"),
            "{}",
            findings[2].message
        );
    }

    #[test]
    fn a_need_that_nothing_meets_is_a_finding() {
        let findings = unmet(&Services::new());
        let finding = findings
            .iter()
            .find(|finding| finding.tool.as_deref() == Some("fs.read"))
            .unwrap();
        assert!(finding.message.contains("Workspace"), "{finding:?}");
    }
}
