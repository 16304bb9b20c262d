//! A module that defines every name that the macro might rely on.
#![allow(dead_code, non_camel_case_types)]

mod tools {}
mod serde {}
mod schemars {}
mod serde_json {}
mod inventory {}
mod core {}
mod std {}
struct Box;
struct Option;
struct Result;
struct String;
struct Vec;
struct Send;
struct Some;
struct Ok;
struct Err;
struct Default;
struct Clone;
struct Submission;
struct Handler;
struct Function;
struct Arguments;

/// Adds.
#[::tools::tool(pure, needs = Box, tags = ["a"], example({"a": 1, "cx": 2} => [1]), title = "Add", timeout = "1s")]
fn definition(
    /// One.
    a: i64,
    /// The other.
    cx: i64,
    context: ::tools::ToolContext,
) -> i64 {
    drop(context);
    a + cx
}

/// Has no arguments.
#[::tools::tool(open_world)]
fn call() {}

#[::core::prelude::v1::test]
fn the_names_around_a_tool_may_be_taken() {
    ::tools::Catalog::new()
        .submit(&[&DEFINITION_TOOL, &CALL_TOOL])
        .unwrap();
}
