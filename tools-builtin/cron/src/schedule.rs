//! [`Schedule`]: the times at which a job runs.

use std::fmt;
use std::str::FromStr;

use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// The fields of a cron expression, in order.
const FIELDS: [&str; 5] = [
    "minute (0-59)",
    "hour (0-23)",
    "day of the month (1-31)",
    "month (1-12)",
    "weekday (0-7)",
];

/// The expressions with a name.
const NAMED: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// The times at which a job runs. [`next_after`](crate::next_after) computes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Schedule {
    /// The times that match a cron expression.
    Cron(CronExpression),
    /// A fixed interval, whatever the clocks on walls show.
    Every {
        /// The interval.
        seconds: u32,
        /// A moment at which an interval ends. Each run is a whole number of intervals away from it.
        from: Timestamp,
    },
    /// One moment.
    Once(Timestamp),
}

impl Schedule {
    /// Returns the schedule with moments of whole seconds, so that the store keeps them exactly.
    pub(crate) fn in_seconds(self) -> Self {
        let whole =
            |moment: Timestamp| Timestamp::from_second(moment.as_second()).unwrap_or(moment);
        match self {
            Self::Cron(_) => self,
            Self::Every { seconds, from } => Self::Every {
                seconds,
                from: whole(from),
            },
            Self::Once(moment) => Self::Once(whole(moment)),
        }
    }
}

/// Writes `0 9 * * *`, `every 600 s` or `once`.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cron(expression) => f.write_str(&expression.text),
            Self::Every { seconds, .. } => write!(f, "every {seconds} s"),
            Self::Once(_) => f.write_str("once"),
        }
    }
}

/// A cron expression of five fields: minute, hour, day of the month, month, weekday.
///
/// If the day of the month or the weekday begins with `*`, a day must match both; else it must match one of them, as in Debian's cron.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CronExpression {
    text: String,
    cron: Box<Cron>,
    pub(crate) is_fixed: bool,
}

/// The error for a text that is no cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCron {
    /// The number of fields is wrong.
    #[error(
        "the cron expression {text:?} has {found} fields; write five: minute, hour, day of the month, month, weekday, such as \
         `30 9 * * 1-5`"
    )]
    Fields {
        /// The expression.
        text: String,
        /// The number of its fields.
        found: usize,
    },
    /// One field is wrong.
    #[error(
        "the field {field} of the cron expression is {text:?}: {reason}; write `*`, a number, `a-b`, `a,b` or `*/n`"
    )]
    Field {
        /// The field with its range.
        field: &'static str,
        /// The text of the field.
        text: String,
        /// The reason.
        reason: String,
    },
    /// There is no such named expression.
    #[error(
        "{text:?} is no named expression; the names are @hourly, @daily, @weekly, @monthly and @yearly"
    )]
    Name {
        /// The text.
        text: String,
    },
}

impl CronExpression {
    /// Returns the first matching time on a clock after `wall`, or `None` if there is none.
    pub(crate) fn next_match(&self, wall: DateTime) -> Option<DateTime> {
        self.cron.find_next_occurrence(&wall, false).ok()
    }
}

impl FromStr for CronExpression {
    type Err = InvalidCron;

    fn from_str(text: &str) -> Result<Self, InvalidCron> {
        let text = text.trim();
        let named = NAMED
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        let expanded = named.map_or(text, |(_, expanded)| expanded);
        if expanded.starts_with('@') {
            return Err(InvalidCron::Name {
                text: text.to_owned(),
            });
        }
        let fields: Vec<_> = expanded.split_whitespace().collect();
        let [minute, hour, day, _, weekday] = fields[..] else {
            return Err(InvalidCron::Fields {
                text: text.to_owned(),
                found: fields.len(),
            });
        };
        let is_both = [day, weekday]
            .iter()
            .any(|field| field.starts_with(['*', '?']));
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .dom_and_dow(is_both);
        let parser = parser.build();
        let cron = parser
            .parse(&fields.join(" "))
            .map_err(|error| wrong_field(&parser, &fields, &error))?;
        let is_fixed = !minute.starts_with('*') && !hour.starts_with('*');
        Ok(Self {
            text: text.to_owned(),
            cron: Box::new(cron),
            is_fixed,
        })
    }
}

/// Returns the error about the first wrong field. Alone, each field shows whether it is the wrong one.
fn wrong_field(parser: &CronParser, fields: &[&str], error: &CronError) -> InvalidCron {
    let found = (0..FIELDS.len()).find_map(|position| {
        let mut alone = ["*"; 5];
        alone[position] = fields[position];
        Some((
            FIELDS[position],
            fields[position].to_owned(),
            parser.parse(&alone.join(" ")).err()?.to_string(),
        ))
    });
    let (field, text, reason) =
        found.unwrap_or_else(|| ("of all", fields.join(" "), error.to_string()));
    InvalidCron::Field {
        field,
        text,
        reason: reason.trim_end_matches('.').to_owned(),
    }
}

impl TryFrom<String> for CronExpression {
    type Error = InvalidCron;

    fn try_from(text: String) -> Result<Self, InvalidCron> {
        text.parse()
    }
}

impl From<CronExpression> for String {
    fn from(expression: CronExpression) -> Self {
        expression.text
    }
}

/// Compares the texts.
impl PartialEq for CronExpression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
