//! The findings for people.

use anstyle::Style;
use tools::lint::{Fault, Severity};
use tools::protocol::wire::schema::NotStrict;

use super::report::{ToolReport, WireForm};
use host::fit;
use host::style::{ALERT, BAD, FAINT, GOOD, STRONG, paint};
use host::table::Table;
use tools::counted;
use tools::visible::visible;

/// Returns a line for each tool, or all its findings, and the totals.
pub(super) fn page(reports: &[ToolReport], is_long: bool, width: usize) -> String {
    let body = if is_long {
        reports
            .iter()
            .map(|report| details(report, width))
            .collect()
    } else {
        overview(reports).wrap(width)
    };
    format!("{body}{}", fit::hanging(&totals(reports), width, "", "  "))
}

fn overview(reports: &[ToolReport]) -> Table<6> {
    let plain = Style::new();
    let mut table = Table::new([STRONG, plain, plain, plain, plain, plain], 0);
    table.push(
        [
            "tool",
            "name",
            "schema",
            "strict",
            "tokens",
            "worst finding",
        ]
        .map(str::to_owned),
    );
    for report in reports {
        let tokens = report.tokens().map(|tokens| tokens.to_string());
        let mut finding = report.worst().map_or_else(|| "none".to_owned(), line);
        if report.faults.len() > 1 {
            finding += &format!(" (1 of {})", report.faults.len());
        }
        table.push([
            visible(&report.tool).into_owned(),
            names(report),
            schemas(report),
            strictness(report),
            tokens.unwrap_or_default(),
            finding,
        ]);
    }
    table
}

/// Returns `kept` if every service takes the tool's own name.
fn names(report: &ToolReport) -> String {
    word(
        report,
        |form| if form.is_name_kept { "kept" } else { "mapped" },
    )
}

/// Returns the largest change of the schema for a service.
fn schemas(report: &ToolReport) -> String {
    word(report, |form| match &form.changes[..] {
        [] => "kept",
        _ if form.is_loosened() => "loosened",
        _ => "rewritten",
    })
}

/// Returns the word of the largest change in any form, from `kept` to `loosened`.
fn word(report: &ToolReport, of: impl Fn(&WireForm) -> &'static str) -> String {
    let order = ["kept", "mapped", "rewritten", "loosened"];
    let words = report.forms().map(|(_, form)| of(form));
    words
        .max_by_key(|word| order.iter().position(|other| other == word))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the share of the services with a strict mode that get a strict definition.
fn strictness(report: &ToolReport) -> String {
    let forms = || {
        report
            .forms()
            .filter(|(format, _)| format.has_strict_mode())
    };
    let all = forms().count();
    match forms().filter(|(_, form)| form.strict.is_ok()).count() {
        _ if all == 0 => String::new(),
        0 => "no".to_owned(),
        count if count == all => "yes".to_owned(),
        count => format!("{count} of {all}"),
    }
}

fn details(report: &ToolReport, width: usize) -> String {
    let mut text = format!("{}\n", paint(STRONG, visible(&report.tool)));
    let source = report.entry.as_ref().map(|entry| entry.source());
    if let Some(source) = source.or(report.faults.iter().find_map(|fault| fault.source.as_ref())) {
        text += &format!("  {}\n", paint(FAINT, visible(&source.to_string())));
    }
    for fault in &report.faults {
        text += &fit::hanging(&line(fault), width, "  ", "    ");
    }
    let mut table = Table::new([FAINT, Style::new()], 2);
    for wire in &report.wires {
        let form = match &wire.form {
            Err(reason) => format!("not sent: {reason}"),
            Ok(form) => format!("{}, {} tokens{}", form.name, form.tokens, strict_note(form)),
        };
        table.push([wire.format.to_string(), visible(&form).into_owned()]);
        for change in wire.form.iter().flat_map(|form| &form.changes) {
            table.push_below(FAINT, visible(&change.to_string()).into_owned());
        }
    }
    text + &table.wrap(width) + "\n"
}

fn strict_note(form: &WireForm) -> String {
    match &form.strict {
        Ok(()) => ", strict".to_owned(),
        Err(NotStrict::Unavailable) => ", no strict mode".to_owned(),
        Err(reason) => format!("; not strict: {reason}"),
    }
}

/// Returns a finding with its weight.
fn line(fault: &Fault) -> String {
    let style = if fault.severity == Severity::Error {
        BAD
    } else {
        ALERT
    };
    format!(
        "{}: {}",
        paint(style, fault.severity),
        visible(&fault.message)
    )
}

fn totals(reports: &[ToolReport]) -> String {
    let [errors, warnings] = [Severity::Error, Severity::Warning].map(|severity| {
        let faults = reports.iter().flat_map(|report| &report.faults);
        faults.filter(|fault| fault.severity == severity).count() as u64
    });
    let style = match (errors, warnings) {
        (0, 0) => GOOD,
        (0, _) => ALERT,
        _ => BAD,
    };
    let found = [counted(errors, "error"), counted(warnings, "warning")].join(", ");
    let counts: Vec<_> = reports.iter().filter_map(ToolReport::tokens).collect();
    let is_estimate = counts.iter().any(|tokens| tokens.is_estimate);
    let about = if is_estimate { "about " } else { "" };
    let tokens: usize = counts.iter().map(|tokens| tokens.count).sum();
    format!(
        "{}: {}, {about}{}",
        counted(reports.len() as u64, "tool"),
        paint(style, found),
        counted(tokens as u64, "token")
    )
}
