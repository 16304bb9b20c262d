//! [`SkippedTool`]: a selected tool that is not offered.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use tools::protocol::ToolNames;
use tools::protocol::wire::schema::Unsendable;
use tools::protocol::wire::{Format, NameCollision};
use tools::{Entry, Services, Source, ToolName, join};

/// A tool that was selected but is not in the set, or not sent to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedTool {
    /// The name of the tool.
    pub name: ToolName,
    /// The reason that it was skipped.
    pub reason: SkipReason,
}

/// The reason that a selected tool is not in the set, or not sent to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// The host does not offer a service that the tool needs.
    Unmet {
        /// The type names of the missing services.
        services: Vec<String>,
    },
    /// The host does not offer a service that the tool needs, and says the reason.
    Absent {
        /// The reasons, each with its next step.
        reasons: Vec<String>,
    },
    /// Several tools have this name, for example from two catalogs.
    Ambiguous {
        /// The places that declare them.
        sources: Vec<Source>,
    },
    /// A former name of the tool is also a name of another tool. Rules about the other tool would be rules about this one.
    FormerName {
        /// The former name.
        was: ToolName,
        /// The places that declare the other tools.
        sources: Vec<Source>,
    },
    /// The service would refuse every form of the tool.
    Unsendable {
        /// The format of the service.
        #[serde(serialize_with = "as_text")]
        format: Format,
        /// The reason.
        #[serde(serialize_with = "as_text")]
        reason: Unsendable,
    },
    /// The request has the most tools that the service takes. Tools are taken in the order of their names.
    RequestLimit {
        /// The format of the service.
        #[serde(serialize_with = "as_text")]
        format: Format,
        /// The number of tools that the service takes.
        most: usize,
    },
    /// Two tools have the same name on the wire.
    Collision(#[serde(serialize_with = "as_text")] NameCollision),
}

impl SkipReason {
    /// Returns the reason to skip the tool of this name, or `None` to take it. The same tool offered twice counts once.
    pub(crate) fn in_set(
        same: &[Arc<Entry>],
        offered: &[Arc<Entry>],
        services: &Services,
    ) -> Option<Self> {
        let first = &same[0];
        // Neither is taken: a model could not say which one it calls.
        if !same.iter().all(|entry| entry.is_same(first)) {
            return Some(Self::Ambiguous {
                sources: sources(same),
            });
        }
        for was in &first.tool().was {
            let holds =
                |other: &&Arc<Entry>| ToolNames::from(other.tool()).iter().any(|name| name == was);
            let others = offered.iter().filter(|other| other.name() != first.name());
            let others: Vec<_> = others.filter(holds).cloned().collect();
            if !others.is_empty() {
                return Some(Self::FormerName {
                    was: was.clone(),
                    sources: sources(&others),
                });
            }
        }
        let unmet = services.unmet(first.needs());
        let reasons = unmet.iter().filter_map(|need| services.absence(need));
        let reasons: Vec<_> = reasons.map(str::to_owned).collect();
        if !reasons.is_empty() {
            return Some(Self::Absent { reasons });
        }
        let services = unmet.iter().map(|need| need.type_name().to_owned());
        (!unmet.is_empty()).then(|| Self::Unmet {
            services: services.collect(),
        })
    }
}

/// Returns the places that declare the tools, sorted.
fn sources(entries: &[Arc<Entry>]) -> Vec<Source> {
    let sources: BTreeSet<_> = entries.iter().map(|entry| entry.source().clone()).collect();
    sources.into_iter().collect()
}

impl fmt::Display for SkippedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmet { services } => {
                write!(f, "the host offers no {}", services.join(" and no "))
            }
            Self::Absent { reasons } => f.write_str(&reasons.join("; ")),
            Self::Ambiguous { sources } => {
                let sources = join(sources, " and ");
                write!(
                    f,
                    "different tools have this name: {sources}; offer only one of them"
                )
            }
            Self::FormerName { was, sources } => {
                let sources = join(sources, " and ");
                write!(
                    f,
                    "its former name {was} is also declared by {sources}; offer only one of them"
                )
            }
            Self::Unsendable { format, reason } => {
                write!(f, "it cannot be sent as {format}: {reason}")
            }
            Self::RequestLimit { format, most } => {
                write!(
                    f,
                    "a request as {format} takes at most {most} tools; select fewer"
                )
            }
            Self::Collision(collision) => collision.fmt(f),
        }
    }
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
