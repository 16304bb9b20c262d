#![doc = include_str!("../README.md")]

mod declaration;
mod difference;
mod document;
mod encoding;
mod input;
mod key_source;
mod label;
mod seven_bit;

pub use self::difference::unified_diff;
pub use self::document::decode_document;
pub use self::encoding::{TextEncoding, UnknownEncoding, UnmappableCharacter};
pub use self::input::{NotText, decode_input, read_input};
pub use self::key_source::{KeyError, KeySource};
pub use self::seven_bit::seven_bit;

/// The byte order mark.
pub const MARK: &str = "\u{FEFF}";
