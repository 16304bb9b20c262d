//! An `if` goes where the service does not take it, or takes a looser form of it.

use serde_json::{Map, Value};

use crate::wire::schema::change::Rule;
use crate::wire::schema::rewriter::Rewriter;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, rewriter: &mut Rewriter<'_>) {
    let Some(condition) = keywords.remove("if") else { return };
    if rewriter.dialect.takes("if")
        && let Some(condition) = rewriter.guarded("if", &condition)
    {
        keywords.insert("if".to_owned(), condition);
        return;
    }
    keywords.remove("then");
    keywords.remove("else");
    rewriter.log.loosened(Rule::Conditional);
}
