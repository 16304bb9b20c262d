#![doc = include_str!("../README.md")]

mod document;
mod encoding;

pub use self::document::decode_document;
pub use self::encoding::{TextEncoding, UnknownEncoding, UnmappableCharacter};
