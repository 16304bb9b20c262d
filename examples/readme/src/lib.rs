//! Run with `cargo test -p example-readme --doc`: compiles and runs the code of the project's README.

#![cfg_attr(doctest, doc = include_str!("../../../README.md"))]
