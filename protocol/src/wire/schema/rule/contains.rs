//! A `contains` with a `maxContains` goes where the service takes a looser form of it.

use serde_json::{Map, Value};

use crate::wire::schema::change::Rule;
use crate::wire::schema::rewriter::Rewriter;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, rewriter: &mut Rewriter<'_>) {
    let Some(mut schema) = keywords.remove("contains") else {
        keywords.remove("minContains");
        keywords.remove("maxContains");
        return;
    };
    if !rewriter.dialect.takes("contains") {
        keywords.remove("minContains");
        keywords.remove("maxContains");
        rewriter.log.loosened(Rule::Keyword("contains".to_owned()));
        return;
    }
    if keywords.contains_key("maxContains") {
        match rewriter.guarded("contains", &schema) {
            Some(exact) => schema = exact,
            None => {
                keywords.remove("maxContains");
                rewriter.log.loosened(Rule::Keyword("maxContains".to_owned()));
                rewriter.inner("contains", &mut schema);
            }
        }
    } else {
        rewriter.inner("contains", &mut schema);
    }
    keywords.insert("contains".to_owned(), schema);
}
