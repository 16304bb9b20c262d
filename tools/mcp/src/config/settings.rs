//! [`ServerSettings`]: what the user permits a server.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Map, Value};
use tools::protocol::{Declared, InvalidClause};
use tools::{Clause, Effects, Grant, Tool};

use crate::client::ServerName;
use crate::config::expansion::is_name;
use crate::config::fields::{Fields, Misplaced, misplaced};

/// The key of a tool that stands for all tools without a key of their own.
pub(super) const ALL: &str = "*";

/// The field with the tools that may be called without a question.
pub(super) const ALLOW: &str = "allow";

/// The word for effects that only read, at the server of the tool.
const READ_ONLY: &str = "read_only";

/// The word for effects that touch nothing.
const PURE: &str = "pure";

/// The fields.
const FIELDS: [&str; 5] = ["variables", "grant", "sampling", ALLOW, "effects"];

/// The decisions of the user about a server. Only the user's own file has them.
///
/// ```json
/// {
///   "variables": ["GITHUB_TOKEN"],
///   "grant": ["fs:read:**"],
///   "sampling": true,
///   "allow": ["search_*"],
///   "effects": {"*": "read_only", "create_issue": {"writes": ["net:api.github.com"], "open_world": true}}
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The variables that a project's server may refer to. Servers of the user's own file may refer to all.
    pub variables: Vec<String>,
    /// The clauses of the grant for the sandbox of its process. `None` if it runs without a sandbox.
    pub grant: Option<Vec<String>>,
    /// True if the server may ask for messages of the host's model.
    pub sampling: bool,
    /// The patterns of the names of its tools that may be called without a question if they have no declared effects. `**` is all of them.
    pub allow: Vec<String>,
    pub(super) effects: BTreeMap<String, Declaration>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Declaration {
    ReadOnly,
    Effects(Effects),
}

impl Declaration {
    fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(word) if word == READ_ONLY => Ok(Self::ReadOnly),
            Value::String(word) if word != PURE => Err(format!(
                "{word:?} is not supported; write {READ_ONLY:?}, {PURE:?}, or an object of effects"
            )),
            value => {
                let mut effects = Effects::deserialize(value).map_err(|error| error.to_string())?;
                if let Effects::Declared(declared) = &mut effects {
                    declared.foreign = true;
                }
                Ok(Self::Effects(effects))
            }
        }
    }
}

impl ServerSettings {
    pub(super) fn parse(settings: &Map<String, Value>) -> Result<Self, Misplaced> {
        let fields = Fields(settings);
        if let Some(unknown) = settings
            .keys()
            .find(|field| !FIELDS.contains(&field.as_str()))
        {
            let known = FIELDS.map(|field| format!("`{field}`")).join(", ");
            let fault = format!("there is no such field; the fields are {known}");
            return Err(misplaced(unknown, fault));
        }
        let variables = fields.texts("variables")?;
        if let Some(index) = variables.iter().position(|name| !is_name(name)) {
            let name = &variables[index];
            let fault =
                format!("{name:?} is not the name of a variable; use letters, digits and `_`");
            return Err(misplaced(format!("variables[{index}]"), fault));
        }
        let grant = fields.get("grant").map(|_| fields.texts("grant"));
        let grant = grant.transpose()?;
        if let Some(clauses) = &grant {
            let _ = Grant::parse(clauses).map_err(|error| misplaced("grant", error))?;
        }
        let declared = fields
            .object("effects")?
            .into_iter()
            .flatten()
            .map(|(tool, value)| {
                let declaration = Declaration::parse(value);
                let declaration =
                    declaration.map_err(|reason| misplaced(format!("effects.{tool}"), reason))?;
                Ok((tool.clone(), declaration))
            });
        let effects = declared.collect::<Result<_, Misplaced>>()?;
        Ok(Self {
            variables,
            grant,
            sampling: fields.flag("sampling")?,
            allow: allow(fields)?,
            effects,
        })
    }

    /// Returns the clauses of the calls that need no question, of a server of this name.
    pub fn clauses<'a>(&'a self, server: &'a ServerName) -> impl Iterator<Item = Clause> + 'a {
        self.allow
            .iter()
            .filter_map(move |tools| clause(server.as_str(), tools).ok())
    }

    /// Returns a definition with the effects that the user declared for the tool of this name at the server, or for all tools. Without
    /// them the definition stays as it is: an open-world write.
    pub fn with_declared_effects(&self, name: &str, tool: Tool) -> Tool {
        match self.declaration(name) {
            Some(Declaration::Effects(effects)) => tool.with_effects(effects.clone()),
            Some(Declaration::ReadOnly) => match read_only(&tool) {
                Some(effects) => tool.with_effects(effects),
                None => tool,
            },
            None => tool,
        }
    }

    pub(super) fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.effects.get(name).or_else(|| self.effects.get(ALL))
    }

    /// Returns the effects that the user declared for tools of the server, without those of tools that are read-only.
    pub fn effects(&self) -> impl Iterator<Item = &Effects> {
        self.effects
            .values()
            .filter_map(|declaration| match declaration {
                Declaration::Effects(effects) => Some(effects),
                Declaration::ReadOnly => None,
            })
    }

    /// Returns true if effects are declared as read-only.
    pub fn has_read_only(&self) -> bool {
        self.effects
            .values()
            .any(|declaration| *declaration == Declaration::ReadOnly)
    }

    /// Returns the settings with these variables added.
    #[must_use]
    pub fn with_variables(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.variables.extend(names);
        self.variables.sort();
        self.variables.dedup();
        self
    }
}

/// Returns the patterns of the tools that may be called without a question: all for `true`, or a list.
fn allow(fields: Fields<'_>) -> Result<Vec<String>, Misplaced> {
    let patterns = match fields.get(ALLOW) {
        Some(Value::Array(_)) => fields.texts(ALLOW)?,
        _ if fields.flag(ALLOW)? => vec!["**".to_owned()],
        _ => Vec::new(),
    };
    for (index, tools) in patterns.iter().enumerate() {
        clause("a", tools).map_err(|error| misplaced(format!("{ALLOW}[{index}]"), error))?;
    }
    Ok(patterns)
}

/// Returns the clause of the calls of a server's tools without declared effects.
fn clause(server: &str, tools: &str) -> Result<Clause, InvalidClause> {
    format!("world:write:mcp:{server}/{tools}").parse()
}

/// Returns effects that read `mcp:<server>/<tool>` alone. The name of an imported tool begins with `mcp:`.
fn read_only(tool: &Tool) -> Option<Effects> {
    let reads = vec![tool.name.as_str().parse().ok()?];
    Some(Effects::Declared(Declared {
        reads,
        ..Declared::default()
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: Value) -> Result<ServerSettings, Misplaced> {
        ServerSettings::parse(value.as_object().unwrap())
    }

    fn effects(settings: &ServerSettings, name: &str) -> Effects {
        let tool = Tool::new(
            format!("mcp:s/{name}"),
            "Does it.",
            json!({"type": "object"}),
        )
        .unwrap();
        settings.with_declared_effects(name, tool).effects
    }

    #[test]
    fn effects_are_those_of_the_tool_or_of_all_tools_or_undeclared() {
        let declared = settings(
            json!({"effects": {"*": "read_only", "a": "pure", "b": {"writes": ["fs:b"]}}}),
        )
        .unwrap();
        assert!(effects(&declared, "a").is_pure());
        assert!(!effects(&declared, "b").is_read_only());
        let tool = "mcp:s/c".parse().unwrap();
        let targets = effects(&declared, "c")
            .targets(&tool, &json!({}), &json!({}))
            .unwrap();
        assert_eq!(
            targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["mcp:read:s/c"]
        );
        assert!(
            effects(&settings(json!({"effects": {"a": "pure"}})).unwrap(), "b").is_undeclared()
        );
    }

    #[test]
    fn a_mistake_names_its_place() {
        for (value, place) in [
            (json!({"variables": ["A", "B-C"]}), "variables[1]"),
            (json!({"variables": "A"}), "variables"),
            (json!({"grant": ["fs"]}), "grant"),
            (json!({"sampling": "yes"}), "sampling"),
            (json!({"allow": "t"}), "allow"),
            (json!({"allow": ["t", "["]}), "allow[1]"),
            (json!({"Grant": []}), "Grant"),
            (json!({"projects": {}}), "projects"),
            (json!({"effects": {"a": "reads"}}), "effects.a"),
            (json!({"effects": []}), "effects"),
        ] {
            assert_eq!(settings(value).unwrap_err().0, place);
        }
    }
}
