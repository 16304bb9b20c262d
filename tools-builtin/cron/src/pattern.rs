//! [`Pattern`]: the times on a clock that match a cron expression.

use jiff::civil::{Date, DateTime};
use jiff::{Span, ToSpan as _};

const MONTHS: &[&str] = &[
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// The fields of a cron expression, in order. Sunday is 0 and 7.
const FIELDS: [Field; 5] = [
    Field::new("minute (0-59)", 0, 59, &[]),
    Field::new("hour (0-23)", 0, 23, &[]),
    Field::new("day of the month (1-31)", 1, 31, &[]),
    Field::new("month (1-12)", 1, 12, MONTHS),
    Field::new("weekday (0-7)", 0, 7, WEEKDAYS),
];

/// The places of the fields for days.
const DAY: usize = 2;
const WEEKDAY: usize = 4;

/// The dates of the calendar and their weekdays repeat after so many years.
const CYCLE: i16 = 400;

/// The times on a clock that match a cron expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The values of each field, as bits.
    values: [u64; 5],
    /// The days of the month and the weekdays that depend on the month.
    days: Vec<DayRule>,
    weekdays: Vec<DayRule>,
    /// True if a day must match both fields. Else it must match one of them.
    is_both: bool,
}

/// The first wrong field of an expression.
pub(crate) struct WrongField {
    pub(crate) field: &'static str,
    pub(crate) text: String,
    pub(crate) reason: String,
}

/// A field with its values.
struct Field {
    name: &'static str,
    first: u8,
    last: u8,
    /// The names of the values, from the first one on.
    names: &'static [&'static str],
}

/// A rule for days that depends on the length of the month or its weekdays. Weekdays count from Sunday, which is 0.
#[derive(Clone, Copy, Debug)]
enum DayRule {
    /// `L`: the last day.
    Last,
    /// `LW`: the last day from Monday to Friday.
    LastWorkday,
    /// `15W`: the day from Monday to Friday that is nearest to this one in the month.
    Workday(i8),
    /// `5#2`: the second Friday.
    Nth(i8, i8),
    /// `5L`: the last Friday.
    LastOf(i8),
}

impl Pattern {
    /// Parses the fields of an expression.
    pub(crate) fn from_fields(fields: [&str; 5]) -> Result<Self, WrongField> {
        let is_both = [fields[DAY], fields[WEEKDAY]]
            .iter()
            .any(|field| field.starts_with(['*', '?']));
        let mut pattern = Self {
            values: [0; 5],
            days: Vec::new(),
            weekdays: Vec::new(),
            is_both,
        };
        for (place, (field, text)) in FIELDS.iter().zip(fields).enumerate() {
            let parsed = text
                .split(',')
                .try_for_each(|part| pattern.add(place, field, &part.to_ascii_uppercase()));
            parsed.map_err(|reason| WrongField {
                field: field.name,
                text: text.to_owned(),
                reason,
            })?;
        }
        // Sunday has two numbers.
        pattern.values[WEEKDAY] |= pattern.values[WEEKDAY] >> 7;
        Ok(pattern)
    }

    fn add(&mut self, place: usize, field: &Field, part: &str) -> Result<(), String> {
        match place {
            DAY if part == "L" => self.days.push(DayRule::Last),
            DAY if part == "LW" => self.days.push(DayRule::LastWorkday),
            DAY if part.ends_with('W') => {
                let day = field.value(part.trim_end_matches('W'))?;
                self.days.push(DayRule::Workday(day.cast_signed()));
            }
            WEEKDAY if part.ends_with('L') => {
                let weekday = field.value(part.trim_end_matches('L'))? % 7;
                self.weekdays.push(DayRule::LastOf(weekday.cast_signed()));
            }
            WEEKDAY if part.contains('#') => {
                let (weekday, nth) = part.split_once('#').unwrap_or_default();
                let weekday = (field.value(weekday)? % 7).cast_signed();
                let nth = ["1", "2", "3", "4", "5"].iter().position(|n| *n == nth);
                let nth = nth.ok_or("after `#` stands a number from 1 to 5")?;
                self.weekdays.push(DayRule::Nth(weekday, nth as i8 + 1));
            }
            DAY | WEEKDAY => self.values[place] |= field.values(&part.replace('?', "*"))?,
            _ => self.values[place] |= field.values(part)?,
        }
        Ok(())
    }

    /// Returns the first matching time after `wall`, or `None` if there is none.
    pub(crate) fn next_match(&self, wall: DateTime) -> Option<DateTime> {
        let start = wall.with().second(0).subsec_nanosecond(0).build().ok()?;
        let start = start.checked_add(1.minute()).ok()?;
        let (mut date, mut earliest) = (start.date(), (start.hour(), start.minute()));
        while date.year() <= start.year().saturating_add(CYCLE) {
            let is_month = self.has(3, date.month());
            if is_month
                && self.has_day(date)
                && let Some((hour, minute)) = self.time_from(earliest)
            {
                return Some(date.at(hour, minute, 0, 0));
            }
            earliest = (0, 0);
            let step: Span = if is_month { 1.day() } else { 1.month() };
            let from = if is_month {
                date
            } else {
                date.first_of_month()
            };
            date = from.checked_add(step).ok()?;
        }
        None
    }

    fn has(&self, place: usize, value: i8) -> bool {
        self.values[place] >> value & 1 == 1
    }

    fn has_day(&self, date: Date) -> bool {
        let weekday = date.weekday().to_sunday_zero_offset();
        let is_day =
            self.has(DAY, date.day()) || self.days.iter().any(|rule| rule.has(date, weekday));
        let is_weekday =
            self.has(WEEKDAY, weekday) || self.weekdays.iter().any(|rule| rule.has(date, weekday));
        if self.is_both {
            is_day && is_weekday
        } else {
            is_day || is_weekday
        }
    }

    /// Returns the first hour and minute from these on.
    fn time_from(&self, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        let mut times = (hour..24).flat_map(|at| {
            (if at == hour { minute } else { 0 }..60).map(move |minute| (at, minute))
        });
        times.find(|(hour, minute)| self.has(1, *hour) && self.has(0, *minute))
    }
}

impl Field {
    const fn new(name: &'static str, first: u8, last: u8, names: &'static [&'static str]) -> Self {
        Self {
            name,
            first,
            last,
            names,
        }
    }

    /// Parses a value or its name.
    fn value(&self, text: &str) -> Result<u8, String> {
        let named = (self.first..)
            .zip(self.names)
            .find(|(_, name)| **name == text);
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|number| is_number && (self.first..=self.last).contains(number));
        let value = named.map(|(value, _)| value).or(number);
        value.ok_or_else(|| format!("{text:?} is none of its values"))
    }

    /// Parses `*`, a value or a range, with a step or without. Returns the values as bits.
    fn values(&self, part: &str) -> Result<u64, String> {
        let (range, step) = match part.split_once('/') {
            None => (part, 1),
            Some((range, step)) => match step.parse::<u8>() {
                Ok(step) if step > 0 => (range, step),
                _ => return Err(format!("the step {step:?} is no number above 0")),
            },
        };
        let (first, last) = match range.split_once('-') {
            None if range == "*" => (self.first, self.last),
            None if part != range => {
                return Err(format!("a step follows `*` or a range, such as `*/{step}`"));
            }
            None => (self.value(range)?, self.value(range)?),
            Some((first, "SUN")) => (self.value(first)?, self.last),
            Some((first, last)) => (self.value(first)?, self.value(last)?),
        };
        if first > last {
            return Err(format!("the range {range:?} is empty"));
        }
        let values = (first..=last).step_by(step.into());
        Ok(values.fold(0, |bits, value| bits | 1 << value))
    }
}

impl DayRule {
    /// Returns true if the rule selects this date of this weekday.
    fn has(self, date: Date, weekday: i8) -> bool {
        let (day, last) = (date.day(), date.days_in_month());
        // The day from Monday to Friday nearest to another day of the month.
        let workday = |near: i8| match (weekday + near - day).rem_euclid(7) {
            0 if near < last => near + 1,
            0 => near - 2,
            6 if near > 1 => near - 1,
            6 => near + 2,
            _ => near,
        };
        match self {
            Self::Last => day == last,
            Self::LastWorkday => day == workday(last),
            Self::Workday(near) => near <= last && day == workday(near),
            Self::Nth(of, nth) => weekday == of && (day - 1) / 7 + 1 == nth,
            Self::LastOf(of) => weekday == of && day + 7 > last,
        }
    }
}
