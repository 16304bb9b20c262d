//! [`EffectsRemark`]: a remark about the declared effects of a server's tools.

use std::collections::BTreeSet;

use serde_json::Value;
use tools::{Effects, Tool, ToolName};

use crate::client::{ServerName, ServerTool};
use crate::config::settings::{ALL, Declaration, ServerSettings};

/// Words in the names of arguments that hold a URL.
const URLS: [&str; 6] = ["href", "link", "uri", "url", "urls", "webpage"];

/// A remark about the effects that the user declared for the tools of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectsRemark {
    /// The remark and the next step.
    pub text: String,
    /// True if the entry is wrong, so that its tool cannot be called.
    pub is_fault: bool,
}

impl ServerSettings {
    /// Returns true if a tool is declared as read-only and has no argument that sends data to a URL, so that a call needs no other grant.
    pub fn only_reads(
        &self,
        server: &ServerName,
        name: &ToolName,
        definition: &ServerTool,
    ) -> bool {
        matches!(
            self.declaration(definition.name()),
            Some(Declaration::ReadOnly)
        ) && definition
            .import(server, name)
            .is_ok_and(|tool| url(&tool).is_none())
    }

    /// Returns remarks about the declared effects: entries that fit no tool or not its schema, and arguments that they leave out.
    pub fn remarks<'a>(
        &self,
        server: &ServerName,
        tools: impl Iterator<Item = (&'a ToolName, &'a ServerTool)>,
    ) -> Vec<EffectsRemark> {
        let mut remarks = Vec::new();
        let mut names = BTreeSet::new();
        let mut remark = |text, is_fault| remarks.push(EffectsRemark { text, is_fault });
        for (name, definition) in tools {
            names.insert(definition.name());
            let Some(declaration) = self.declaration(definition.name()) else {
                continue;
            };
            let Ok(tool) = definition.import(server, name) else {
                continue;
            };
            let place = format!("effects of {:?}", definition.name());
            match declaration {
                Declaration::ReadOnly => {
                    if let Some(argument) = url(&tool) {
                        let instead = format!("{{\"reads\": [\"net:{{{argument}|host}}\"]}}");
                        remark(
                            format!(
                                "the {place} are read_only, but its argument {argument:?} sends data to a URL; write {instead} instead"
                            ),
                            false,
                        );
                    }
                }
                Declaration::Effects(effects) => {
                    if let Err(error) = effects.check(&tool.parameters, &[]) {
                        remark(
                            format!("the {place} are wrong, so it cannot be called: {error}"),
                            true,
                        );
                    } else if let Some(arguments) = list_unnamed(effects, &tool) {
                        remark(
                            format!(
                                "the {place} name no target for {arguments}; a call with an address, a URL or a path there is asked about"
                            ),
                            false,
                        );
                    }
                }
            }
        }
        let declared = self.effects.keys();
        for name in declared.filter(|name| *name != ALL && !names.contains(name.as_str())) {
            let text = format!(
                "the effects of {name:?} have no meaning, because the server has no tool of this name; correct the name"
            );
            remark(text, false);
        }
        remarks
    }
}

/// Returns the argument of a tool that is a URL.
fn url(tool: &Tool) -> Option<&str> {
    let properties = tool.parameters.get("properties")?.as_object()?;
    properties
        .iter()
        .find(|(name, property): &(&String, &Value)| {
            let format = property.get("format").and_then(Value::as_str);
            let lower = name.to_ascii_lowercase();
            let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
            matches!(format, Some("uri" | "url"))
                || words.any(|word| URLS.contains(&word))
                // `imageUrl` has nothing between its words.
                || name.ends_with("Url")
        })
        .map(|(name, _)| name.as_str())
}

/// Returns the arguments of a writing tool that may hold an address, a URL or a path and that no template names.
fn list_unnamed(effects: &Effects, tool: &Tool) -> Option<String> {
    let Effects::Declared(declared) = effects else {
        return None;
    };
    if effects.is_read_only() || declared.templates().next().is_none() {
        return None;
    }
    let properties = tool.parameters.get("properties")?.as_object()?;
    let unnamed = properties.keys().filter(|name| !declared.names(name));
    let unnamed: Vec<_> = unnamed.map(|name| format!("{name:?}")).collect();
    (!unnamed.is_empty()).then(|| unnamed.join(", "))
}
