//! [`Clause`]: one entry of a grant.

mod extent;
mod host;
mod overlap;
mod pattern;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::extent::Extent;
use self::pattern::Pattern;
use crate::access::{Access, UnknownAccess};
use crate::invalid_target::InvalidTarget;
use crate::origins::Origins;
use crate::target::Target;
use crate::words::{UnspelledWord, WordsPattern, examples, pattern_runs_programs};

/// The start of the names of servers' tools.
const SERVERS: &str = "mcp:";

/// One entry of a [`Grant`](crate::Grant): `scheme:access:pattern`, such as `fs:write:src/**`.
///
/// `*` matches any scheme or any access. The pattern is case-sensitive:
///
/// - `*` matches any text within one segment, and `?` one character of it. Segments are separated by `/`.
/// - `**` is always a whole segment and matches zero or more segments. `dir/**` covers `dir` itself; `dir/**/` covers only values
///   that end with `/`.
/// - `[a-z]` and `[!a-z]` match one ASCII character in the class, or one character not in it, but never `/`.
/// - `{a,b}` matches one of the alternatives. Alternatives cannot be nested and cannot contain `**`.
/// - `\` escapes the next character. `/` cannot be escaped.
///
/// A character is a Unicode scalar value: `?` matches `é` if it is one code point, and `??` if its accent is a second one.
///
/// A pattern of scheme `fs` is a path below the workspace root and is kept normalised. Only `.` and `**` (or `**/**`) cover the
/// root itself; `*` covers its entries.
///
/// A target of scheme `net` is a host, with its port if that is not the URL scheme's own. `net:read:localhost` does not cover
/// `localhost:8080`; `net:read:localhost:8080` and `net:read:localhost:*` do. The brackets of an IPv6 address are escaped:
/// `net:read:\[::1\]:8080`. Unescaped capitals, non-ASCII characters and `://` are an error, because the target of a
/// [URL](crate::Normaliser::Host) has none.
///
/// A pattern of scheme `exec` is a list of [words](crate::Words), quoted as in a target and kept in its canonical text:
///
/// - `*` outside quotes matches any text within one word, which may contain `/`. `**` is always a word of its own and matches zero
///   or more words. No other wildcards exist.
/// - Without wildcards, the pattern covers the exact list: `npm test` covers neither `npm test x` nor `npm testify`.
/// - A word that is partly unknown, such as `"out-$x"`, is matched only by a word `*` and by `**`. Any number of unknown words, such
///   as `$x`, and the words behind a digest are matched only by `**`. An unknown word in a pattern matches nothing.
/// - Wildcards after a program do not [permit](Self::permits) the words by which well-known programs run others, load code or write
///   files: `find **` permits neither `find . -delete` nor `find . -exec id ';'`. Only a clause that spells such a word does:
///   `find . -name * -delete`. Options of all programs are judged by their names, too: `mytool **` does not permit `mytool --exec x`. It
///   permits what operands of an unknown program do. If the program is a wildcard, as in `**`, the clause is about all programs, with all
///   words.
///
/// A clause for any scheme covers a target of scheme `exec` only if its pattern is `**`.
///
/// The names of servers' tools alone are a clause too: `mcp:files/**` is `world:write:mcp:files/**`, all calls of the server's tools without
/// declared effects.
///
/// A clause is compiled once, and clones share the compiled form. Clauses are compared by their text. Their [`Origins`] have no
/// influence.
///
/// ```
/// use protocol::{Clause, Target};
///
/// let clause: Clause = "fs:read:src/**".parse()?;
/// assert!(clause.matches(&"fs:read:src/a/b.rs".parse::<Target>()?));
/// assert!(clause.matches(&"fs:read:src".parse::<Target>()?));
/// assert!(!clause.matches(&"fs:read:src/../Cargo.toml".parse::<Target>()?));
/// assert!(!clause.matches(&"fs:write:src/a/b.rs".parse::<Target>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Clause {
    compiled: Arc<Compiled>,
    origins: Origins,
}

struct Compiled {
    text: String,
    /// The byte offset of the pattern in the text.
    start: usize,
    scheme: Option<String>,
    access: Option<Access>,
    pattern: Pattern,
}

/// The error for a text that is not a [`Clause`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidClause {
    /// The text has fewer than two colons.
    #[error("{text:?} is not a clause; write `scheme:access:pattern`, such as `fs:read:src/**`")]
    Syntax {
        /// The text, cut after 80 characters.
        text: String,
    },
    /// The scheme is invalid, or the pattern is a path that no target can have.
    #[error("{text:?} is not a clause: {reason}")]
    Target {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault and its repair.
        reason: InvalidTarget,
    },
    /// The access is invalid.
    #[error("{text:?} is not a clause: {reason} (or `*` for any)")]
    Access {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault and its repair.
        reason: UnknownAccess,
    },
    /// The pattern of scheme `net` spells a host as no target does, and would match none.
    #[error("{text:?} is not a clause: {reason}; write {}", host::advice(spelling.as_deref()))]
    Host {
        /// The clause, cut after 80 characters. Without its pattern if that may contain a password.
        text: String,
        /// The fault.
        reason: &'static str,
        /// The clause in the spelling of targets. `None` if it is not evident.
        spelling: Option<String>,
    },
    /// The pattern is invalid.
    #[error("{text:?} is not a clause: {reason}")]
    Pattern {
        /// The clause, cut after 80 characters.
        text: String,
        /// The fault and its repair.
        reason: String,
    },
}

impl Clause {
    /// Adds the place that sets the clause, for explanations.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<Arc<str>>) -> Self {
        self.origins.add(origin);
        self
    }

    /// Returns the places that set the clause.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    pub(crate) fn merge_origins(&mut self, other: &Self) {
        self.origins.merge(&other.origins);
    }

    /// Returns true if a grant or an allowing rule with this clause covers the target: the clause [matches](Self::matches), and no wildcard
    /// stands for a word by which a command does more than its clause says. Well-known programs have a table of such words.
    ///
    /// ```
    /// use protocol::{Clause, Target};
    ///
    /// let permits = |clause: &str, target: &str| -> Result<bool, Box<dyn std::error::Error>> {
    ///     Ok(clause.parse::<Clause>()?.permits(&target.parse::<Target>()?))
    /// };
    /// assert!(permits("exec:write:git grep **", "exec:write:git grep -n main")?);
    /// assert!(!permits("exec:write:git grep **", "exec:write:git grep -Osh main")?);
    /// assert!(permits("exec:write:git grep -Oless **", "exec:write:git grep -Oless main")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn permits(&self, target: &Target) -> bool {
        self.matches(target)
            && match &self.compiled.pattern {
                Pattern::Words(pattern) => pattern.unspelled(target.value()).is_none(),
                _ => true,
            }
    }

    /// Returns the word for which the clause matches the target and does not [permit](Self::permits) it.
    pub fn unspelled(&self, target: &Target) -> Option<UnspelledWord> {
        let Pattern::Words(pattern) = &self.compiled.pattern else {
            return None;
        };
        let (words, special) = self
            .matches(target)
            .then(|| pattern.unspelled(target.value()))
            .flatten()?;
        Some(UnspelledWord::new(&words, &special))
    }

    /// Returns true if a rule with this clause that asks or denies is about the target: the clause [matches](Self::matches) it, or a plainer
    /// spelling of the command. `git push **` concerns `/usr/bin/git -C a push` and `env A=b git push`, too.
    pub fn concerns(&self, target: &Target) -> bool {
        // Only commands have plainer forms: a rule that denies `git push` also has to see it behind a folder or a launcher.
        let is_command = matches!(self.compiled.pattern, Pattern::Words(_));
        self.matches(target)
            || is_command
                && target.command().is_some_and(|command| {
                    command
                        .plainer()
                        .iter()
                        .filter_map(|value| {
                            Target::new(target.access(), target.scheme(), value).ok()
                        })
                        .any(|it| self.matches(&it))
                })
    }

    /// Returns a few words that the wildcards of the clause do not [permit](Self::permits). Empty if there are none.
    pub fn unpermitted_words(&self) -> Vec<&'static str> {
        match &self.compiled.pattern {
            Pattern::Words(pattern) => examples(&pattern.spelled_words()),
            _ => Vec::new(),
        }
    }

    /// Returns true if the pattern matches the target. What the clause [permits](Self::permits) in a grant can be less, and what it
    /// [concerns](Self::concerns) in a rule that asks or denies can be more.
    pub fn matches(&self, target: &Target) -> bool {
        self.scheme().is_none_or(|scheme| scheme == target.scheme())
            && self.access().is_none_or(|access| access == target.access())
            && self.compiled.pattern.matches(target)
    }

    /// Returns the clause as text, normalised.
    pub fn as_str(&self) -> &str {
        &self.compiled.text
    }

    /// Returns the scheme. Returns `None` if the clause covers every scheme.
    pub fn scheme(&self) -> Option<&str> {
        self.compiled.scheme.as_deref()
    }

    /// Returns the access. Returns `None` if the clause covers every access.
    pub fn access(&self) -> Option<Access> {
        self.compiled.access
    }

    /// Returns the pattern, normalised.
    pub fn pattern(&self) -> &str {
        &self.compiled.text[self.compiled.start..]
    }

    /// Returns true if the clause permits a command that [runs other programs](crate::Words::runs_programs).
    pub fn runs_programs(&self) -> bool {
        match self.scheme() {
            Some(Target::COMMAND_SCHEME) => pattern_runs_programs(self.pattern()),
            Some(_) => false,
            None => self.pattern() == "**",
        }
    }

    /// Returns true if the clause permits writes of MCP servers' tools without declared effects, and nothing else: `mcp:files/**`.
    pub fn names_servers(&self) -> bool {
        self.scheme() == Some(Target::UNBOUNDED_SCHEME)
            && self.access() == Some(Access::Write)
            && self.pattern().starts_with(SERVERS)
    }

    /// Creates `*:*:**`, which covers every target.
    pub(crate) fn all() -> Self {
        Self::assemble(None, None, "**", Pattern::Any)
    }

    /// Creates the clause that covers only this target.
    pub(crate) fn for_target(target: &Target) -> Self {
        let value = target.value();
        let scheme = Some(target.scheme());
        let access = Some(target.access());
        if target.scheme() == Target::COMMAND_SCHEME {
            return Self::assemble(
                scheme,
                access,
                value,
                Pattern::Words(WordsPattern::for_value(value)),
            );
        }
        Self::assemble(
            scheme,
            access,
            &pattern::escape(target.scheme(), value),
            Pattern::Literal(value.to_owned()),
        )
    }

    /// Creates the clause that covers `base` and its subtree, or the whole scheme if `base` is empty.
    pub(crate) fn for_subtree(scheme: &str, access: Access, base: &str) -> Self {
        if base.is_empty() {
            return Self::assemble(Some(scheme), Some(access), "**", Pattern::Any);
        }
        let pattern = format!("{}**", pattern::escape(scheme, &format!("{base}/")));
        Self::assemble(
            Some(scheme),
            Some(access),
            &pattern,
            Pattern::Subtree(base.to_owned()),
        )
    }

    fn assemble(
        scheme: Option<&str>,
        access: Option<Access>,
        text: &str,
        pattern: Pattern,
    ) -> Self {
        let head = format!(
            "{}:{}:",
            scheme.unwrap_or("*"),
            access.map_or("*", Access::as_str)
        );
        let start = head.len();
        let compiled = Compiled {
            text: head + text,
            start,
            scheme: scheme.map(str::to_owned),
            access,
            pattern,
        };
        Self {
            compiled: Arc::new(compiled),
            origins: Origins::default(),
        }
    }
}

impl Target {
    /// Returns the clause that covers only this target. Wildcards in its value are escaped.
    ///
    /// If the target is a list with unknown [words](crate::Words), the clause covers nothing: another command can have the same text.
    pub fn to_clause(&self) -> Clause {
        Clause::for_target(self)
    }
}

crate::text_form::text_form!(Clause, InvalidClause);

impl FromStr for Clause {
    type Err = InvalidClause;

    fn from_str(text: &str) -> Result<Self, InvalidClause> {
        if let Some(tools) = text
            .strip_prefix(SERVERS)
            .filter(|tools| !tools.contains(':'))
        {
            // `**` alone would also name tools that are not those of a server.
            let tools = if tools == "**" { "*/**" } else { tools };
            return format!("{}:write:{SERVERS}{tools}", Target::UNBOUNDED_SCHEME).parse();
        }
        let shown = || InvalidTarget::excerpt(text);
        let target = |reason| InvalidClause::Target {
            text: shown(),
            reason,
        };
        let mut parts = text.splitn(3, ':');
        let (Some(scheme), Some(access), Some(pattern)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidClause::Syntax { text: shown() });
        };
        let scheme = match scheme {
            "*" => None,
            scheme => {
                InvalidTarget::check_scheme(scheme).map_err(target)?;
                Some(scheme)
            }
        };
        let access = match access {
            "*" => None,
            access => Some(access.parse().map_err(|reason| InvalidClause::Access {
                text: shown(),
                reason,
            })?),
        };
        InvalidTarget::check_control(pattern).map_err(target)?;
        let invalid = |reason| InvalidClause::Pattern {
            text: shown(),
            reason,
        };
        if scheme == Some(Target::COMMAND_SCHEME) {
            let (pattern, compiled) = WordsPattern::compile(pattern).map_err(invalid)?;
            return Ok(Self::assemble(
                scheme,
                access,
                &pattern,
                Pattern::Words(compiled),
            ));
        }
        if scheme == Some("fs") {
            let pattern = pattern::normalise(pattern).map_err(target)?;
            let compiled = Pattern::compile(&pattern).map_err(invalid)?;
            return Ok(Self::assemble(scheme, access, &pattern, compiled));
        }
        if scheme == Some("net") {
            // As a class it would match one character, and no host.
            if host::is_address(pattern) {
                let reason = "unescaped brackets are a class of characters; write an IPv6 address as `\\[::1\\]`";
                return Err(invalid(reason.to_owned()));
            }
            if let Some(reason) = host::fault(pattern) {
                let head = &text[..text.len() - pattern.len()];
                let spelling = host::respell(pattern).map(|host| format!("{head}{host}"));
                // A URL may contain a password or a key.
                let text = if pattern.contains(['@', '?']) {
                    format!("{head}…")
                } else {
                    shown()
                };
                return Err(InvalidClause::Host {
                    text,
                    reason,
                    spelling,
                });
            }
        }
        Ok(Self::assemble(
            scheme,
            access,
            pattern,
            Pattern::compile(pattern).map_err(invalid)?,
        ))
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq for Clause {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Clause {}

impl PartialOrd for Clause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Clause {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Clause {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}
