//! [`Piece`]: the literal texts and fields of a template.

use super::InvalidTemplate;
use crate::invalid_target::InvalidTarget;
use crate::normalise::Normaliser;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Piece {
    Text(String),
    Field {
        name: String,
        normaliser: Option<Normaliser>,
    },
    /// `{*}`: any value that the tool's function computes.
    Computed,
}

/// Parses the text after the scheme. `shown` returns the template for error messages.
pub(super) fn parse(text: &str, shown: &dyn Fn() -> String) -> Result<Vec<Piece>, InvalidTemplate> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        literal.push_str(before);
        let brace = if from.starts_with('{') { '{' } else { '}' };
        let after = &from[1..];
        if let Some(after) = after.strip_prefix(brace) {
            literal.push(brace);
            rest = after;
            continue;
        }
        let alone = || InvalidTemplate::Brace {
            template: shown(),
            brace,
        };
        if brace == '}' {
            return Err(alone());
        }
        let (inside, after) = after.split_once('}').ok_or_else(alone)?;
        if inside.contains('{') {
            return Err(alone());
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(field(inside, shown)?);
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

/// Returns the text of the pieces with a value in the place of each field.
pub(super) fn fill(pieces: &[Piece], value: &str) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Field { .. } | Piece::Computed => value,
    });
    texts.collect()
}

fn field(inside: &str, shown: &dyn Fn() -> String) -> Result<Piece, InvalidTemplate> {
    if inside == "*" {
        return Ok(Piece::Computed);
    }
    let (name, normaliser) = match inside.split_once('|') {
        None => (inside, None),
        Some((name, normaliser)) => (
            name,
            Some(
                Normaliser::from_name(normaliser).ok_or_else(|| InvalidTemplate::Normaliser {
                    template: shown(),
                    normaliser: InvalidTarget::excerpt(normaliser),
                })?,
            ),
        ),
    };
    if name.trim().is_empty() {
        return Err(InvalidTemplate::Unnamed { template: shown() });
    }
    Ok(Piece::Field {
        name: name.to_owned(),
        normaliser,
    })
}
