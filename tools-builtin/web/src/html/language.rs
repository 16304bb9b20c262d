//! The language of code.

use super::attributes::{Attribute, Attributes};

/// The beginnings of classes that a language follows.
const PREFIXES: [&str; 6] = [
    "language-",
    "lang-",
    "highlight-source-",
    "highlight-text-",
    "highlight-",
    "brush:",
];

/// The classes beside which a class with the language stands.
const COMPANIONS: [&str; 4] = ["sourceCode", "hljs", "prettyprint", "rust-example-rendered"];

/// Classes that stand beside a language and mean none.
const OTHERS: &str = "code default highlight linenums literal-block listing none notranslate \
    numberLines numberSource plain snippet";

/// Returns the language that the attributes of a code block or of an element around it name.
pub(super) fn language(attributes: &Attributes) -> Option<String> {
    for attribute in [Attribute::DataLang, Attribute::DataLanguage] {
        if let Some(language) = attributes.value(attribute).and_then(check_name) {
            return Some(language);
        }
    }
    let prefixed = PREFIXES.iter().find_map(|prefix| {
        let mut classes = attributes.classes();
        let language = classes.find_map(|class| class.strip_prefix(prefix));
        language.and_then(check_name)
    });
    prefixed
        .or_else(|| beside(attributes))
        .or_else(|| brush(attributes))
}

/// Returns the class beside a class of a highlighter.
fn beside(attributes: &Attributes) -> Option<String> {
    let mut classes = attributes.classes();
    if !classes.any(|class| COMPANIONS.contains(&class)) {
        return None;
    }
    let classes = attributes.classes();
    let mut others = classes.filter(|class| !COMPANIONS.contains(class));
    let language = others.find(|class| !class.contains(['_', ':']));
    language.and_then(check_name)
}

/// Returns the language of `class="brush: js"`.
fn brush(attributes: &Attributes) -> Option<String> {
    let mut classes = attributes.classes().skip_while(|class| *class != "brush:");
    classes.nth(1).and_then(check_name)
}

/// Returns a name that is safe after a fence.
fn check_name(language: &str) -> Option<String> {
    let language = language.trim_end_matches(';');
    let has_other = language.contains(|c: char| !c.is_ascii_alphanumeric() && !"+#.-_".contains(c));
    let is_safe = !language.is_empty() && language.len() <= 32 && !has_other;
    let is_other = OTHERS.split(' ').any(|other| other == language);
    (is_safe && !is_other).then(|| language.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_highlighters_name_the_language() {
        for (class, expected) in [
            ("language-rust", Some("rust")),
            ("highlight highlight-source-shell", Some("shell")),
            ("highlight-python notranslate", Some("python")),
            ("highlight-default notranslate", None),
            ("sourceCode haskell", Some("haskell")),
            ("hljs cpp", Some("cpp")),
            ("hljs language-c++", Some("c++")),
            ("brush: js; toolbar: false", Some("js")),
            ("brush:php", Some("php")),
            ("rust rust-example-rendered", Some("rust")),
            ("highlight", None),
            ("language-a`b", None),
            ("", None),
        ] {
            let mut attributes = Attributes::default();
            attributes.add("class", || class.into());
            assert_eq!(language(&attributes).as_deref(), expected, "{class}");
        }
    }
}
