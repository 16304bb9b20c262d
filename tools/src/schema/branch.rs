//! Guesses the intended branch of `anyOf` or `oneOf` if no branch matched.

use std::cmp::Reverse;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

type Errors = [ValidationError<'static>];

/// The errors to report if no branch matched.
pub(super) enum Nearest<'a> {
    /// The branches differ in one place, and the value there fits no branch. Contains one error of each branch.
    Choice(Vec<&'a ValidationError<'static>>),
    /// The most likely branch.
    Branch {
        /// The branch's index.
        index: usize,
        /// True if several branches remained possible.
        is_guess: bool,
    },
}

/// Returns the most likely branch for the value at the pointer `at`.
///
/// Prefers a branch of the right kind and tag, then the one with the fewest errors, then the one with the deepest error.
pub(super) fn nearest<'a>(branches: &'a [Vec<ValidationError<'static>>], at: &str) -> Nearest<'a> {
    let mut meant: Vec<usize> = (0..branches.len()).collect();
    if let Some(choice) = narrow(&mut meant, branches, |errors| kind_error(errors, at)) {
        return Nearest::Choice(choice);
    }
    if let Some(choice) = narrow(&mut meant, branches, |errors| tag_error(errors, at)) {
        return Nearest::Choice(choice);
    }
    let best = meant.iter().copied().min_by_key(|index| {
        let errors = &branches[*index];
        let deepest = errors.iter().map(depth).max();
        (errors.len(), Reverse(deepest))
    });
    Nearest::Branch {
        index: best.unwrap_or(0),
        is_guess: meant.len() > 1,
    }
}

/// Drops the branches that `mismatch` excludes. If it excludes all of them at the same place, returns their errors instead.
fn narrow<'a>(
    meant: &mut Vec<usize>,
    branches: &'a [Vec<ValidationError<'static>>],
    mismatch: impl Fn(&'a Errors) -> Option<&'a ValidationError<'static>>,
) -> Option<Vec<&'a ValidationError<'static>>> {
    let excluded: Vec<_> = meant
        .iter()
        .filter_map(|index| mismatch(&branches[*index]))
        .collect();
    if excluded.len() < meant.len() {
        meant.retain(|index| mismatch(&branches[*index]).is_none());
        return None;
    }
    let place = excluded.first()?.instance_path();
    excluded
        .iter()
        .all(|error| error.instance_path() == place)
        .then_some(excluded)
}

/// Returns the error of a branch that expects another kind of value.
fn kind_error<'a>(errors: &'a Errors, at: &str) -> Option<&'a ValidationError<'static>> {
    errors.iter().find(|error| {
        let decides = matches!(
            error.kind(),
            ValidationErrorKind::Type { .. }
                | ValidationErrorKind::Constant { .. }
                | ValidationErrorKind::Enum { .. }
        );
        decides && error.instance_path().as_str() == at
    })
}

/// Returns the error of a branch that expects another tag: a property with a `const` or an `enum`.
fn tag_error<'a>(errors: &'a Errors, at: &str) -> Option<&'a ValidationError<'static>> {
    errors.iter().find(|error| {
        let decides = matches!(
            error.kind(),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
        );
        // Tags stand in the value itself: a deeper mismatch is a fault of its branch and not the choice of another one.
        let below = error
            .instance_path()
            .as_str()
            .strip_prefix(at)
            .and_then(|path| path.strip_prefix('/'));
        decides && below.is_some_and(|path| !path.contains('/'))
    })
}

fn depth(error: &ValidationError<'static>) -> usize {
    error.instance_path().as_str().matches('/').count()
}
