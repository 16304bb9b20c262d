//! The syntax of target templates, identical to that of `protocol::Template`. Escaped dot segments, such as `%2e%2e`, are
//! found at registration.

const NORMALISERS: &[&str] = &["path", "host"];

/// Returns the names of the fields in a template.
///
/// # Errors
/// Returns a message with the fault and its repair.
pub(crate) fn fields(template: &str) -> Result<Vec<String>, String> {
    let invalid = |reason: &str| Err(format!("{template:?} is not a template: {reason}"));
    let Some((scheme, value)) = template
        .split_once(':')
        .filter(|(_, value)| !value.is_empty())
    else {
        return invalid("write `scheme:value`, such as \"fs:{path}\" or \"net:{url|host}\"");
    };
    if !is_scheme(scheme) {
        return invalid(&format!(
            "{scheme:?} is not a scheme; use 1 to 32 of a-z 0-9 + . - with a letter first, such as `fs` or `net`"
        ));
    }
    if value.chars().any(char::is_control) {
        return invalid("it has a control character; leave it out");
    }
    let mut fields = Vec::new();
    // The value with a harmless text for each field, to find literal text that no target can have. In scheme `exec`, where `{*}` is a
    // whole word, it is a text that no literal word has.
    let field = if scheme == "exec" { "\0" } else { "xx" };
    let mut probe = String::new();
    let mut rest = value;
    while let Some(at) = rest.find(['{', '}']) {
        probe.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix(brace) {
            probe.push_str(brace);
            rest = after;
            continue;
        }
        let inside = after
            .split_once('}')
            .filter(|(inside, _)| brace == "{" && !inside.contains('{'));
        let Some((inside, after)) = inside else {
            return invalid(&format!(
                "it has an unmatched `{brace}`; write `{{field}}`, or `{brace}{brace}` for a brace"
            ));
        };
        if inside == "*" {
            probe.push_str(field);
            rest = after;
            continue;
        }
        let (name, normaliser) = inside
            .split_once('|')
            .map_or((inside, None), |(name, other)| (name, Some(other)));
        if let Some(other) = normaliser.filter(|other| !NORMALISERS.contains(other)) {
            return invalid(&format!(
                "unknown normaliser {other:?}; write `path` or `host`, or remove it"
            ));
        }
        if name.trim().is_empty() {
            return invalid("a field has no name; write the name of an argument in its braces");
        }
        if scheme == "exec" {
            return invalid(
                "an argument is no list of words; write `{*}`, and a function that computes the targets",
            );
        }
        fields.push(name.to_owned());
        probe.push_str(field);
        rest = after;
    }
    probe.push_str(rest);
    match invalid_value(scheme, &probe) {
        Some(reason) => invalid(reason),
        None => Ok(fields),
    }
}

/// Returns true if a function computes the targets of this template.
pub(crate) fn is_computed(template: &str) -> bool {
    template.replace("{{", "").contains("{*}")
}

fn is_scheme(scheme: &str) -> bool {
    scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.len() <= 32
        && scheme
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'))
}

fn invalid_value(scheme: &str, value: &str) -> Option<&'static str> {
    match scheme {
        "fs" => invalid_path(value),
        "world" => None,
        "exec" => invalid_words(value),
        _ => value
            // Parsers of URLs read a backslash as a slash.
            .split(['/', '\\'])
            // Parsers of URLs ignore spaces.
            .any(|segment| matches!(&*segment.replace(' ', ""), "." | ".."))
            .then_some("it has a segment `.` or `..`; write the resolved path"),
    }
}

fn invalid_words(words: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    (!words.split(' ').all(|word| word == "\0" || !word.is_empty() && word.chars().all(is_plain))).then_some(
        "its words are not plain; write words of A-Z a-z 0-9 _ @ % + = : , . / - and `{*}`, with one space between",
    )
}

fn invalid_path(path: &str) -> Option<&'static str> {
    const ABSOLUTE: &str =
        "the path is absolute; write it relative to the root (the root itself is `.`)";
    if path.contains('\\') {
        return Some("the path has a backslash; separate its parts with `/`");
    }
    if path.starts_with('/') {
        return Some(ABSOLUTE);
    }
    let mut kept = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                if kept.pop().is_none() {
                    return Some("the path leads outside the root; write a path below it");
                }
            }
            segment => kept.push(segment),
        }
    }
    let has_drive =
        |path: &str| matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    // `./C:/x` is absolute on Windows once it is resolved.
    (has_drive(path) || kept.first().is_some_and(|first| has_drive(first))).then_some(ABSOLUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_returned_in_order() {
        assert_eq!(fields("x:{a}/{b|path}{{c}}").unwrap(), ["a", "b"]);
        assert_eq!(fields("x:{*}/{a}").unwrap(), ["a"]);
        assert_eq!(fields("world:all").unwrap(), [""; 0]);
    }

    #[test]
    fn a_star_in_braces_is_computed() {
        for (template, expected) in [
            ("exec:{*}", true),
            ("x:a{{{*}", true),
            ("x:{{*}}", false),
            ("x:{a}*", false),
        ] {
            assert_eq!(is_computed(template), expected, "{template}");
        }
    }

    #[test]
    fn an_error_says_how_to_repair_the_template() {
        for (template, expected) in [
            ("path", "write `scheme:value`"),
            ("FS:{path}", "is not a scheme"),
            ("fs:{path", "an unmatched `{`"),
            ("fs:path}", "an unmatched `}`"),
            ("fs:{}", "a field has no name"),
            ("net:{url|domain}", "unknown normaliser \"domain\""),
            ("fs:../{path}", "leads outside the root"),
            ("exec:{program}", "write `{*}`"),
            ("exec:git --file={*}", "with one space between"),
        ] {
            let error = fields(template).unwrap_err();
            assert!(error.contains(expected), "{template}: {error}");
        }
    }
}
