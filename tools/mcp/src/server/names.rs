//! [`ServedNames`]: the names of tools as clients see them.

use std::collections::{BTreeMap, HashMap};

use tools::ToolName;
use tools::protocol::wire::NameGrammar;

/// The names of tools as clients see them. A call may use either spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServedNames {
    /// The names of the protocol, such as `fs.read`.
    #[default]
    Dotted,
    /// Names such as `fs_read`, which match `^[a-zA-Z0-9_-]{1,64}$`. Some clients send the names of tools unchanged to models' services that
    /// take no others.
    Underscored,
}

/// The names of served tools in the form of models' services.
#[derive(Default)]
pub(super) struct Underscored {
    shown: BTreeMap<ToolName, String>,
    tools: HashMap<String, ToolName>,
}

impl Underscored {
    /// Makes the names of tools. Two tools that would have the same one get an unambiguous form, and so does a long name.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a ToolName> + Clone) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        names
            .clone()
            .for_each(|name| *counts.entry(simple(name)).or_default() += 1);
        let mut made = Self::default();
        for name in names {
            let simple = simple(name);
            let is_usable =
                counts.get(&simple) == Some(&1) && NameGrammar::Provider.allows(&simple);
            let shown = if is_usable {
                simple
            } else {
                NameGrammar::Provider.encode(name).into_owned()
            };
            made.tools.insert(shown.clone(), name.clone());
            made.shown.insert(name.clone(), shown);
        }
        made
    }

    /// Returns the tool with a name of this form. Returns `None` for other texts.
    pub(super) fn tool(&self, text: &str) -> Option<&ToolName> {
        self.tools.get(text)
    }

    /// Returns the form of a name.
    pub(super) fn form(&self, name: &ToolName) -> Option<&str> {
        self.shown.get(name).map(String::as_str)
    }
}

fn simple(name: &ToolName) -> String {
    let name = name.as_str();
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_is_one_of_models_services_and_unlike_the_others() {
        let long = format!("mcp:files/{}", "x".repeat(100));
        let names = [
            "fs.read",
            "fs_list",
            "fs.list",
            "mcp:files/read_file",
            "a b",
            "Get%20MP3",
            &long,
            "a--b",
            "a.-b",
        ];
        let names: Vec<ToolName> = names
            .iter()
            .filter_map(|name| ToolName::new(*name).ok())
            .collect();
        let made = Underscored::new(names.iter());
        let shown: BTreeSet<_> = names.iter().map(|name| made.form(name).unwrap()).collect();
        assert_eq!(shown.len(), names.len(), "{shown:?}");
        assert!(
            shown.iter().all(|name| NameGrammar::Provider.allows(name)),
            "{shown:?}"
        );
        assert!(
            names
                .iter()
                .all(|name| made.tool(made.form(name).unwrap()) == Some(name))
        );
        assert!(
            shown.contains("fs_read") && shown.contains("mcp_files_read_file"),
            "{shown:?}"
        );
    }
}
