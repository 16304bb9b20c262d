//! Run with `cargo test -p example-coming-from --doc`: compiles and runs the code of the page beside it.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
