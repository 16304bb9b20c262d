//! [`Reason`]: why a script is opaque.

use std::fmt;

use tools::visible_line;

/// A place in a script that can do more than the script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// 0 outside of the script.
    line: usize,
    /// In characters.
    column: usize,
    pub(super) what: &'static str,
    excerpt: String,
}

impl Reason {
    /// The most characters of the script that a reason shows.
    const SHOWN: usize = 60;

    /// Creates the reason for the text at an offset of the script.
    pub(crate) fn new(script: &str, at: usize, what: &'static str) -> Self {
        let (before, rest) = script.split_at(at);
        let line = 1 + before.matches('\n').count();
        let column = 1 + before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        let rest = rest.split('\n').next().unwrap_or_default();
        Self {
            line,
            column,
            what,
            excerpt: visible_line(rest, Self::SHOWN),
        }
    }

    /// Creates a reason that lies outside of the script.
    pub(crate) fn outside(what: &'static str) -> Self {
        Self {
            line: 0,
            column: 0,
            what,
            excerpt: String::new(),
        }
    }

    /// Returns the kind and the place, without the text that stands there.
    pub(crate) fn place(&self) -> String {
        match self.line {
            0 => self.what.to_owned(),
            line => format!("{} in line {line}, column {}", self.what, self.column),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "the call has {}", self.what),
            line => write!(f, "line {line} has {}: {}", self.what, self.excerpt),
        }
    }
}

/// Describes a node of the syntax tree that is not part of a transparent script.
pub(crate) fn construct(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "command_substitution" => "a command substitution",
        "process_substitution" => "a process substitution",
        "simple_expansion" | "expansion" | "string_expansion" => "a variable",
        "arithmetic_expansion" => "arithmetic",
        "brace_expression" => "braces",
        "translated_string" => "a string that is translated",
        "ansi_c_string" => "a string in $'…' that shells read in different ways",
        "variable_assignment" | "variable_assignments" => "an assignment of a variable",
        "declaration_command" | "unset_command" => "a change of variables",
        "function_definition" => "a function",
        "for_statement" | "c_style_for_statement" | "while_statement" => "a loop",
        "if_statement" | "case_statement" => "a condition",
        "test_command" => "a test in brackets, for which `test` can stand",
        "subshell" | "compound_statement" => "a group of commands",
        "heredoc_redirect" | "herestring_redirect" => {
            "a text for standard input, for which the argument `stdin` can stand"
        }
        _ => return None,
    })
}
