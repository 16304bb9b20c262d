//! References to variables: `${NAME}` and `${NAME:-default}`.

use std::collections::{BTreeMap, BTreeSet};

/// The variables that a server's entry may refer to.
#[derive(Clone)]
pub struct Variables {
    values: BTreeMap<String, String>,
    /// The names that may be used, unless all may.
    listed: Option<BTreeSet<String>>,
}

impl Variables {
    /// Allows all variables, for an entry of the user's own file.
    pub fn all(environment: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            values: environment.into_iter().collect(),
            listed: None,
        }
    }

    /// Allows only the variables that the user listed, for an entry of a project's file.
    pub fn from_listed(
        environment: impl IntoIterator<Item = (String, String)>,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        let listed: BTreeSet<_> = names.into_iter().collect();
        let values = environment
            .into_iter()
            .filter(|(name, _)| listed.contains(name))
            .collect();
        Self {
            values,
            listed: Some(listed),
        }
    }

    pub(super) fn value(&self, name: &str) -> Result<&str, String> {
        match (self.values.get(name), &self.listed) {
            (Some(value), _) => Ok(value),
            (None, Some(listed)) if !listed.contains(name) => Err(format!(
                "this project's server may not have the variable {name}; add it with `mcp approve --variable {name}`"
            )),
            (None, _) => Err(format!(
                "the variable {name} is not set; set it, or write ${{{name}:-default}}"
            )),
        }
    }
}

// Leaves out the values.
tools::debug_fields!(self: Variables { listed });

/// Returns true if the text can be the name of a variable in a reference.
pub(super) fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Replaces each reference by the value of its variable, or its default if there is none. Values are not expanded again.
pub(super) fn expand(text: &str, variables: &Variables) -> Result<String, String> {
    let mut out = String::new();
    for part in parts(text) {
        match part? {
            Part::Text(text) => out += text,
            Part::Reference { name, default } => match (variables.value(name), default) {
                // As in a shell, `:-` replaces an empty value, too.
                (Ok(""), Some(default)) | (Err(_), Some(default)) => out += default,
                (value, _) => out += value?,
            },
        }
    }
    Ok(out)
}

/// Returns the names of the variables in a text, and whether each reference has a default.
pub(super) fn names(text: &str) -> Result<Vec<(String, bool)>, String> {
    let name = |part| match part {
        Ok(Part::Reference { name, default }) => Some(Ok((name.to_owned(), default.is_some()))),
        Ok(Part::Text(_)) => None,
        Err(fault) => Some(Err(fault)),
    };
    parts(text).filter_map(name).collect()
}

enum Part<'a> {
    Text(&'a str),
    Reference {
        name: &'a str,
        default: Option<&'a str>,
    },
}

fn parts(mut rest: &str) -> impl Iterator<Item = Result<Part<'_>, String>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(inner) = rest.strip_prefix("${") else {
            let (text, after) = rest.split_at(rest.find("${").unwrap_or(rest.len()));
            rest = after;
            return Some(Ok(Part::Text(text)));
        };
        let Some((reference, after)) = inner.split_once('}') else {
            let text = std::mem::take(&mut rest);
            return Some(Err(no_reference(text)));
        };
        rest = after;
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        if is_name(name) {
            Some(Ok(Part::Reference { name, default }))
        } else {
            Some(Err(no_reference(&format!("${{{reference}}}"))))
        }
    })
}

fn no_reference(text: &str) -> String {
    format!("{text:?} is not a reference to a variable; write ${{NAME}} or ${{NAME:-default}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> [(String, String); 3] {
        [("A", "1"), ("EMPTY", ""), ("NESTED", "${A}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    #[test]
    fn a_reference_is_its_value_or_its_default() {
        let variables = Variables::all(environment());
        for (text, expected) in [
            ("", ""),
            ("plain $A {A} $", "plain $A {A} $"),
            ("${A}", "1"),
            ("x${A}y${A}z", "x1y1z"),
            ("${A:-2}", "1"),
            ("${B:-2}", "2"),
            ("${B:-}", ""),
            ("${EMPTY}", ""),
            ("${EMPTY:-2}", "2"),
            ("${NESTED}", "${A}"),
            ("${B:-a:-b}", "a:-b"),
        ] {
            assert_eq!(expand(text, &variables).unwrap(), expected, "{text}");
        }
        let fault = expand("${B}", &variables).unwrap_err();
        assert!(fault.contains("variable B is not set"), "{fault}");
        for text in [
            "${", "a${A", "${}", "${1}", "${env:A}", "${A-2}", "${A:2}", "${Ä}",
        ] {
            let fault = expand(text, &variables).unwrap_err();
            assert!(fault.contains("not a reference"), "{text}: {fault}");
            assert_eq!(names(text), Err(fault));
        }
        assert_eq!(
            names("${A} ${B:-x}").unwrap(),
            [("A".to_owned(), false), ("B".to_owned(), true)]
        );
    }

    #[test]
    fn a_variable_that_is_not_listed_has_no_value() {
        let variables = Variables::from_listed(environment(), ["A".to_owned(), "B".to_owned()]);
        assert_eq!(expand("${A}", &variables).unwrap(), "1");
        assert_eq!(expand("${NESTED:-d}", &variables).unwrap(), "d");
        let fault = expand("${NESTED}", &variables).unwrap_err();
        assert!(
            fault.contains("may not have the variable NESTED"),
            "{fault}"
        );
        let fault = expand("${B}", &variables).unwrap_err();
        assert!(fault.contains("variable B is not set"), "{fault}");
        assert!(!format!("{variables:?}").contains('1'));
    }
}
