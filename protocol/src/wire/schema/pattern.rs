//! The regular expressions that services take in `pattern`.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassSet, ClassSetItem, GroupKind, HexLiteralKind, Literal, LiteralKind,
    Repetition, RepetitionKind, RepetitionRange,
};

use super::dialect::Patterns;

/// The largest number in `{n,m}` that is a simple case. Anthropic's guide refuses "large ranges" without a number.
const MOST_SIMPLE: u32 = 16;

/// The largest number in `{n,m}` that [RE2](https://github.com/google/re2/wiki/Syntax) takes.
const MOST_REGULAR: u32 = 1_000;

impl Patterns {
    /// Returns true if the service takes the regular expression.
    pub(super) fn takes(self, pattern: &str) -> bool {
        match self {
            Self::Any => true,
            _ => Parser::new()
                .parse(pattern)
                .is_ok_and(|pattern| self.has(&pattern)),
        }
    }

    fn has(self, part: &Ast) -> bool {
        let is_regular = self == Self::Regular;
        match part {
            Ast::Empty(_) | Ast::Dot(_) => true,
            Ast::Literal(literal) => self.has_literal(literal),
            Ast::ClassPerl(class) => is_regular || !class.negated,
            Ast::ClassBracketed(class) => {
                matches!(&class.kind, ClassSet::Item(item) if self.has_item(item))
            }
            Ast::Assertion(assertion) => matches!(
                assertion.kind,
                AssertionKind::StartLine | AssertionKind::EndLine
            ),
            Ast::Repetition(repetition) => self.has_repetition(repetition),
            Ast::Group(group) => {
                let is_known = match &group.kind {
                    GroupKind::CaptureIndex(_) => true,
                    GroupKind::NonCapturing(flags) => is_regular && flags.items.is_empty(),
                    // Engines differ in the syntax of names.
                    GroupKind::CaptureName { .. } => false,
                };
                is_known && self.has(&group.ast)
            }
            Ast::Alternation(alternatives) => {
                is_regular && alternatives.asts.iter().all(|part| self.has(part))
            }
            Ast::Concat(parts) => parts.asts.iter().all(|part| self.has(part)),
            _ => false,
        }
    }

    fn has_literal(self, literal: &Literal) -> bool {
        match literal.kind {
            LiteralKind::Verbatim | LiteralKind::Meta | LiteralKind::Superfluous => true,
            LiteralKind::Special(_) | LiteralKind::HexFixed(HexLiteralKind::X) => {
                self == Self::Regular
            }
            _ => false,
        }
    }

    fn has_item(self, item: &ClassSetItem) -> bool {
        match item {
            ClassSetItem::Literal(literal) => self.has_literal(literal),
            ClassSetItem::Range(range) => {
                self.has_literal(&range.start) && self.has_literal(&range.end)
            }
            ClassSetItem::Perl(class) => self == Self::Regular || !class.negated,
            ClassSetItem::Union(union) => union.items.iter().all(|item| self.has_item(item)),
            _ => false,
        }
    }

    fn has_repetition(self, repetition: &Repetition) -> bool {
        let most = match &repetition.op.kind {
            RepetitionKind::Range(
                RepetitionRange::Exactly(most)
                | RepetitionRange::AtLeast(most)
                | RepetitionRange::Bounded(_, most),
            ) => Some(*most),
            _ => None,
        };
        let is_taken = if self == Self::Regular {
            most.is_none_or(|most| most <= MOST_REGULAR)
        } else {
            let is_group = matches!(*repetition.ast, Ast::Group(_));
            repetition.greedy && most.is_none_or(|most| most <= MOST_SIMPLE && !is_group)
        };
        is_taken && self.has(&repetition.ast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_takes_its_own_subset() {
        let simple = [
            "",
            "abc",
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            "^[^ ]*$",
            r"^AS\d+$",
            r"(ab)+c?",
            r"\w\.\s",
            r"[\d.]{1,16}",
            r"^\/x\-y$",
        ];
        let regular = [
            "^(asc|desc)$",
            "a|b",
            "(?:ab)*",
            r"\S",
            r"[^\W]",
            "a+?",
            "a{1,200}",
            "(ab){2}",
            r"[^/\x00-\x1F]",
            r"\n",
        ];
        let others = [
            "(?=a)",
            "^(?!a)b",
            "(?<=a)b",
            "(?<!a)b",
            r"(a)\1",
            r"\bword",
            r"a\B",
            r"\p{L}",
            r"[\p{Cc}]",
            "(?<name>a)",
            "(?i)a",
            r"\u0041",
            "[a&&b]",
            "[[:alpha:]]",
            "(",
            r"\z",
            r"\u{41}",
            "a{",
            "[]",
            "a{2000}",
        ];
        for (patterns, takes) in [
            (&simple[..], [true, true]),
            (&regular, [false, true]),
            (&others, [false, false]),
        ] {
            for pattern in patterns {
                assert_eq!(
                    [Patterns::Simple, Patterns::Regular].map(|own| own.takes(pattern)),
                    takes,
                    "{pattern}"
                );
                assert!(Patterns::Any.takes(pattern));
            }
        }
    }
}
