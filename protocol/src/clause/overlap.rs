//! [`Clause::may_overlap`]: tells clauses apart that no target can match together.

use super::Clause;
use super::pattern::Pattern;
use crate::target::Target;

impl Clause {
    /// Returns false if no target is covered by both clauses. Exact for subtrees, single values and everything. Two patterns with wildcards
    /// are compared by their segments without wildcards up to the first `**`, and by their text before the first wildcard, so true may be
    /// too much.
    ///
    /// ```
    /// use protocol::Clause;
    ///
    /// let clause = |text: &str| text.parse::<Clause>();
    /// assert!(clause("fs:read:src/**")?.may_overlap(&clause("fs:*:src/a/*.rs")?));
    /// assert!(!clause("fs:read:src/**")?.may_overlap(&clause("fs:read:doc/**")?));
    /// assert!(!clause("fs:read:**")?.may_overlap(&clause("fs:write:**")?));
    /// # Ok::<(), protocol::InvalidClause>(())
    /// ```
    pub fn may_overlap(&self, other: &Self) -> bool {
        let (scheme, others) = (self.scheme(), other.scheme());
        if scheme.zip(others).is_some_and(|(one, two)| one != two)
            || self
                .access()
                .zip(other.access())
                .is_some_and(|(one, two)| one != two)
        {
            return false;
        }
        let one = &self.compiled.pattern;
        let two = &other.compiled.pattern;
        if matches!(one, Pattern::Any) || matches!(two, Pattern::Any) {
            return true;
        }
        // A clause for any scheme covers a command only if its pattern is `**`.
        if scheme != others && [scheme, others].contains(&Some(Target::COMMAND_SCHEME)) {
            return false;
        }
        match (one, two) {
            (Pattern::Literal(one), Pattern::Literal(two)) => one == two,
            (Pattern::Subtree(one), Pattern::Subtree(two)) => {
                is_within(one, two) || is_within(two, one)
            }
            (Pattern::Literal(value), Pattern::Subtree(base))
            | (Pattern::Subtree(base), Pattern::Literal(value)) => is_within(value, base),
            (Pattern::Literal(value), Pattern::Glob(glob))
            | (Pattern::Glob(glob), Pattern::Literal(value)) => {
                value != "." && glob.is_match(value.as_bytes())
            }
            (Pattern::Words(one), Pattern::Words(two))
                if one.value().is_some() || two.value().is_some() =>
            {
                one.value().is_some_and(|value| two.matches(value))
                    || two.value().is_some_and(|value| one.matches(value))
            }
            _ => {
                let one_head = self.head();
                let two_head = other.head();
                let is_begun = one_head.starts_with(two_head) || two_head.starts_with(one_head);
                let is_words = matches!(one, Pattern::Words(_)) || matches!(two, Pattern::Words(_));
                // Compiling a segment takes long, and a grant has many pairs.
                let is_pair = matches!((one, two), (Pattern::Glob(_), Pattern::Glob(_)));
                is_begun && (is_words || segments_meet(self.pattern(), other.pattern(), is_pair))
            }
        }
    }

    /// Returns a text with which every covered value begins.
    fn head(&self) -> &str {
        match &self.compiled.pattern {
            Pattern::Any => "",
            Pattern::Literal(text) | Pattern::Subtree(text) => text,
            Pattern::Glob(_) => before(self.pattern(), &['*', '?', '[', '{', '\\']),
            // `git **` also covers `git`.
            Pattern::Words(_) => {
                before(self.pattern(), &['*', '"', '\'', '\\', '$', '`', '#']).trim_end()
            }
        }
    }
}

fn before<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

/// Returns false if no path has the segments of both patterns. Alternatives and escapes may contain anything, and so may segments with
/// wildcards in a pair of such patterns.
fn segments_meet(one: &str, two: &str, is_pair: bool) -> bool {
    if [one, two].iter().any(|text| text.contains(['{', '\\'])) {
        return true;
    }
    let mut one = one.split('/');
    let mut two = two.split('/');
    loop {
        match (one.next(), two.next()) {
            (None, None) | (Some("**"), _) | (_, Some("**")) => return true,
            (None, _) | (_, None) => return false,
            (Some(one), Some(two)) if !segment_meets(one, two, is_pair) => return false,
            _ => {}
        }
    }
}

/// Returns false if no text is covered by both segments.
fn segment_meets(one: &str, two: &str, is_pair: bool) -> bool {
    let (pattern, text) = match [one, two].map(|text| text.contains(['*', '?', '['])) {
        [false, false] => return one == two,
        [false, true] => (two, one),
        [true, false] => (one, two),
        [true, true] => return true,
    };
    is_pair
        || match Pattern::compile(pattern) {
            Ok(Pattern::Glob(glob)) => glob.is_match(text.as_bytes()),
            _ => true,
        }
}

/// Returns true if the value is the base or below it.
fn is_within(value: &str, base: &str) -> bool {
    value
        .strip_prefix(base)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(one: &str, two: &str) -> bool {
        let [one, two] = [one, two].map(|text| text.parse::<Clause>().unwrap());
        assert_eq!(one.may_overlap(&two), two.may_overlap(&one), "{one} {two}");
        one.may_overlap(&two)
    }

    #[test]
    fn clauses_without_a_common_target_are_told_apart() {
        for (one, two) in [
            ("fs:read:a/**", "db:read:a/**"),
            ("fs:read:a/**", "fs:write:**"),
            ("fs:read:a/**", "fs:read:ab/**"),
            ("fs:read:a/**", "fs:read:ab"),
            ("fs:read:a", "fs:read:b"),
            ("fs:read:a/b.rs", "fs:read:*/*.md"),
            ("fs:read:src/**", "fs:read:doc/*.md"),
            ("fs:read:a/**", "fs:read:*.md"),
            ("fs:read:a/b/**", "fs:read:?/[c-d]"),
            ("fs:read:a/*", "fs:read:*"),
            ("exec:write:git **", "exec:write:npm **"),
            ("exec:write:git **", "exec:write:npm test"),
            ("exec:write:git push", "exec:write:git pushes"),
            ("exec:write:git push **", "exec:write:git pushes"),
            ("*:write:a*", "exec:write:a b"),
        ] {
            assert!(!overlap(one, two), "{one} {two}");
        }
    }

    #[test]
    fn clauses_with_a_common_target_overlap() {
        for (one, two) in [
            ("*:*:**", "fs:read:a"),
            ("*:*:**", "exec:write:git **"),
            ("fs:read:src/**", "fs:*:src"),
            ("fs:read:src/**", "fs:read:src/a/b.rs"),
            ("fs:read:src/a/**", "fs:read:src/**"),
            ("fs:read:src/**", "fs:read:s*/x"),
            ("fs:read:src/**", "fs:read:**/x"),
            ("fs:read:a/b.rs", "fs:read:*/*.rs"),
            ("fs:read:a?", "fs:read:[ab]c"),
            ("fs:read:a/*", "fs:read:*/**"),
            ("fs:read:a/b/**", "fs:read:?/[a-b]"),
            ("fs:read:a/b/**", "fs:read:{a/b,c}/*"),
            (r"fs:read:a\*", "fs:read:a*"),
            ("exec:write:git **", "exec:write:git push"),
            ("exec:write:git **", "exec:write:git"),
            ("exec:write:git **", "exec:write:git stat*"),
            (r#"exec:write:"a b" **"#, r#"exec:write:"a b" c"#),
        ] {
            assert!(overlap(one, two), "{one} {two}");
        }
    }
}
