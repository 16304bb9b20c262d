//! [`ToolNames`]: all names by which rules know a tool.

use crate::name::ToolName;
use crate::tool::Tool;

/// The name of a tool and its former names. A rule about any of them is a rule about the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolNames<'a> {
    name: &'a ToolName,
    was: &'a [ToolName],
}

impl<'a> ToolNames<'a> {
    /// Returns the names, the present one first.
    pub fn iter(self) -> impl Iterator<Item = &'a ToolName> {
        std::iter::once(self.name).chain(self.was)
    }

    /// Returns the tool that holds a name: the tool of this name, or else the only one of this former name.
    pub fn holder<'t, T>(
        tools: &'t [T],
        names: impl Fn(&'t T) -> ToolNames<'t>,
        name: &str,
    ) -> Option<&'t T> {
        let present = tools.iter().find(|tool| names(tool).name == name);
        present.or_else(|| {
            let mut former = tools
                .iter()
                .filter(|tool| names(tool).was.iter().any(|was| was == name));
            former.next().filter(|_| former.next().is_none())
        })
    }
}

impl<'a> From<&'a Tool> for ToolNames<'a> {
    fn from(tool: &'a Tool) -> Self {
        Self {
            name: &tool.name,
            was: &tool.was,
        }
    }
}

/// The names of a tool without former names.
impl<'a> From<&'a ToolName> for ToolNames<'a> {
    fn from(name: &'a ToolName) -> Self {
        Self { name, was: &[] }
    }
}
