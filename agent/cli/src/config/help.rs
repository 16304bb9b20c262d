//! The documentation of the settings file, made from the declarations of the keys.

use host::settings::{KeyAbout, Values};
use host::{fit, folders};
use tools::join;

use crate::program;

/// Returns the text of `config --help` on files and keys.
pub(crate) fn help() -> String {
    let name = program::name();
    let file = folders::settings_name();
    let variable = program::variable("model");
    format!(
        "Files:
  Precedence: flags, environment variables, the profile, the project's file, the user's file, the
  defaults. The project's file is the nearest {file} in the working directory or above
  it. The user's file is {name}/{file} in $XDG_CONFIG_HOME or ~/.config.
  A variable such as {variable} sets one key; an empty one does not count.

{}  [profiles.review]
{}  select = [\"fs.read\", \"fs.search\"]
  limits = {{ max_steps = 10 }}

  {} belong to the provider set with them:
  another provider does not inherit them. Grants, within lists and rules accumulate; other
  settings are replaced.

Trust:
  A checkout can come from anyone, and programs of a session can write files. So a project's file
  may only narrow grants, lower limits, and choose tools and one of its own profiles if the user's
  file does not. Other settings are an error, unless the user's file lists its directory, or one
  above it, as trusted, and {name} trust has approved the content. A file that may only narrow does
  not hide those above it. A file of another user is ignored.",
        keys_text(),
        comment(&format!(
            "A named set of these keys: {}",
            names(|key| key.in_profile)
        )),
        names(|key| key.owner == Some("provider")),
    )
}

fn names(is_meant: fn(&KeyAbout) -> bool) -> String {
    let keys = Values::keys().filter(|key| is_meant(key));
    join(keys.map(|key| key.name), ", ")
}

/// Returns the keys by their tables. Those of none come first, as they must in a file.
fn sorted_keys() -> Vec<&'static KeyAbout> {
    let mut keys: Vec<_> = Values::keys().collect();
    keys.sort_by_key(|key| key.name.rsplit_once('.').map(|(table, _)| table));
    keys
}

/// Returns a file with an example of every key, commented with everything that the key's declaration says.
fn keys_text() -> String {
    let mut text = String::new();
    let mut table = "";
    for key in sorted_keys() {
        let (inside, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if inside != table {
            text += &format!("  [{inside}]\n");
            table = inside;
        }
        let example = match key.example {
            "" => format!("# {name} = …"),
            example => format!("{name} = {example}"),
        };
        text += &format!(
            "{}{}  {example}\n\n",
            comment(key.doc),
            comment(&sources(key))
        );
    }
    text
}

/// Returns the text as comment lines of at most 96 columns.
fn comment(text: &str) -> String {
    fit::hanging(text, 96, "  # ", "  # ")
}

/// Returns the flag and the variable of a key, and the rule for untrusted projects.
fn sources(key: &KeyAbout) -> String {
    let flag = key.flag.map(|flag| format!("{}; ", flag.name));
    let flag = flag.unwrap_or_default();
    let variable = key.variable().map(|variable| format!("{variable}; "));
    let variable = variable.unwrap_or_default();
    format!("{flag}{variable}from an untrusted project: {}", key.project)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the keys as the reference lists them.
    fn list() -> String {
        let mut list = String::new();
        let defaults: Vec<_> = Values::default().rows().collect();
        let mut shown = None;
        for key in sorted_keys() {
            let table = key.name.rsplit_once('.').map_or("", |(table, _)| table);
            if shown != Some(table) {
                let heading = match table {
                    "" => "## Of no table".to_owned(),
                    table => format!("## `[{table}]`"),
                };
                list += &format!("{heading}\n\n");
                shown = Some(table);
            }
            let KeyAbout {
                name, doc, project, ..
            } = key;
            let doc = doc.replace('*', "\\*").replace('_', "\\_");
            list += &format!("### `{name}`\n\n{doc}.\n\n");
            let default = |(about, value, _): &(&KeyAbout, serde_json::Value, _)| {
                (about.name == *name && !value.is_null())
                    .then(|| format!("`{}`", value.to_string().trim_matches('"')))
            };
            let default: Vec<_> = defaults.iter().filter_map(default).collect();
            let named = [
                ("default", default.join(", ")),
                (
                    "flag",
                    key.flag
                        .map_or_else(String::new, |flag| format!("`{}`", flag.name)),
                ),
                (
                    "variable",
                    key.variable()
                        .map_or_else(String::new, |variable| format!("`{variable}`")),
                ),
                ("untrusted project", (*project).to_string()),
            ];
            for (label, value) in named {
                if !value.is_empty() {
                    list += &format!("- {label}: {value}\n");
                }
            }
            list += "\n";
        }
        list
    }

    #[test]
    fn the_reference_has_a_list_of_all_keys() {
        let page = include_str!("../../reference/settings.md");
        let (before, rest) = page.split_once("<!-- generated -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        let list = list();
        let written = format!(
            "{before}<!-- generated -->\n\n{}\n\n<!-- end -->{after}",
            list.trim()
        );
        // As .ci/generate asks.
        if std::env::var_os("TOOLCRIB_GENERATE").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/settings.md");
            return std::fs::write(file, written).unwrap();
        }
        assert!(page == written, "run .ci/generate");
    }

    #[test]
    fn every_key_is_described_and_no_name_is_taken_twice() {
        let mut names = Vec::new();
        for key in Values::keys() {
            assert!(
                key.doc.split_whitespace().count() > 2 && !key.doc.ends_with('.'),
                "{key:?}"
            );
            names.extend([
                Some(key.name.to_owned()),
                key.variable(),
                key.flag.map(|flag| flag.name.to_owned()),
            ]);
        }
        let mut names: Vec<_> = names.into_iter().flatten().collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
}
