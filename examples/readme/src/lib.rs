//! Run with `cargo test -p example-readme --doc`: compiles and runs the code of the project's README and of the guide.

#![cfg_attr(doctest, doc = include_str!("../../../README.md"))]
#![cfg_attr(doctest, doc = include_str!("../../../agent/cli/guide/own-tools.md"))]
#![cfg_attr(doctest, doc = include_str!("../../../agent/cli/guide/own-agent.md"))]
#![cfg_attr(doctest, doc = include_str!("../../../agent/cli/guide/own-program.md"))]
#![cfg_attr(doctest, doc = include_str!("../../../agent/cli/guide/own-family.md"))]
