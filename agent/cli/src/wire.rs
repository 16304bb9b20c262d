//! The formats of services on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tools::protocol::wire::Format;

/// Returns the parser of a format's name, which lists all names in `--help`.
pub(crate) fn format() -> impl TypedValueParser<Value = Format> {
    let named = |name: String| Format::ALL.into_iter().find(|it| it.name() == name);
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .try_map(move |name| named(name).ok_or("no format has this name"))
}
