//! Shapes of real pages: the parser of Markdown finds their structure.

use crate::outline::{markdown, outline};

/// Shapes with their outlines. Most were written for this test, after the output of the named programs. Three are copies of test data
/// of a package, which the name cites with its licence.
const SHAPES: &str = include_str!("shapes.txt");

#[test]
fn each_shape_keeps_its_structure() {
    let mut failed = Vec::new();
    let mut count = 0;
    for shape in SHAPES
        .split("\n## ")
        .filter(|shape| !shape.trim().is_empty())
    {
        let (name, rest) = shape.split_once('\n').unwrap();
        let (html, expected) = rest
            .split_once("\n=> ")
            .unwrap_or_else(|| panic!("{name} has no outline"));
        let markdown = markdown(html);
        let found = outline(&markdown);
        if found != expected.trim_end() {
            failed.push(format!("## {name}\n{html}\n=> {found}\n"));
        }
        count += 1;
    }
    assert!(count >= 100, "{count} shapes");
    assert!(
        failed.is_empty(),
        "{} of {count} shapes differ; their outlines are:\n{}",
        failed.len(),
        failed.join("\n")
    );
}
