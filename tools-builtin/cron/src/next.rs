//! [`next_after`]: the next run of a schedule. Every rule about time zones and their clock changes is in this file.

use jiff::civil::DateTime;
use jiff::fmt::temporal::{Pieces, PiecesOffset, TimeZoneAnnotationKind};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Span, Timestamp};

use crate::error::CronError;
use crate::schedule::{CronExpression, Schedule};

/// Returns the first run of a schedule after a moment, or `None` if there is none.
///
/// Successive runs are strictly increasing. Where the clock of the zone changes:
///
/// - An expression with fixed times (neither minute nor hour begins with `*`) runs once for each matching time. A time that the clock
///   skips runs at the first moment after the gap; several such times run once. A time that the clock repeats runs the first time.
/// - Any other expression follows the clock: a time that is skipped does not run, and a repeated one runs both times.
/// - An interval and a single moment do not depend on the zone.
pub fn next_after(schedule: &Schedule, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    match schedule {
        Schedule::Once(moment) => Some(*moment).filter(|moment| *moment > after),
        Schedule::Every { seconds, from } => next_interval((*seconds).max(1), *from, after),
        Schedule::Cron(expression) if expression.is_fixed => next_fixed(expression, zone, after),
        Schedule::Cron(expression) => next_following(expression, zone, after),
    }
}

/// Returns the moment of a time on the clock of the zone: the first moment after the gap if the clock skips the time, and the first one
/// if it repeats it. Returns `None` if it is out of range.
pub(crate) fn moment_of(wall: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(wall);
    match ambiguous.offset() {
        AmbiguousOffset::Gap { before, .. } => {
            // With the offset before the gap, the time is at or after its end.
            let within = before
                .to_timestamp(wall)
                .ok()?
                .checked_add(Span::new().seconds(1))
                .ok()?;
            Some(zone.preceding(within).next()?.timestamp())
        }
        _ => ambiguous.earlier().ok(),
    }
}

/// A later time on the clock is never an earlier moment, so the first match whose moment is late enough is the next run.
fn next_fixed(expression: &CronExpression, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut wall = zone.to_datetime(after);
    loop {
        wall = expression.next_match(wall)?;
        let moment = moment_of(wall, zone)?;
        if moment > after {
            return Some(moment);
        }
    }
}

/// Searches one period between two changes of the clock after the other.
fn next_following(
    expression: &CronExpression,
    zone: &TimeZone,
    after: Timestamp,
) -> Option<Timestamp> {
    let mut start = after;
    let mut wall = zone.to_datetime(after);
    loop {
        let offset = zone.to_offset(start);
        let change = zone.following(start).next();
        let end = change.map(|change| change.timestamp());
        let moment = offset.to_timestamp(expression.next_match(wall)?).ok()?;
        match end.filter(|end| moment >= *end) {
            None => return Some(moment),
            Some(end) => {
                start = end;
                // The first second after the change may match.
                wall = zone
                    .to_datetime(end)
                    .checked_sub(Span::new().seconds(1))
                    .ok()?;
            }
        }
    }
}

fn next_interval(seconds: u32, from: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let interval = i128::from(seconds) * 1_000_000_000;
    let since = after.as_nanosecond() - from.as_nanosecond();
    // `/` would round towards zero, which is the wrong way for a moment before `from`, as after a clock was set back.
    let number = since.div_euclid(interval) + 1;
    Timestamp::from_nanosecond(from.as_nanosecond() + number * interval).ok()
}

/// A time on a clock, with an offset or a zone or both, such as `2027-03-01T09:00+01:00[Europe/Berlin]`.
pub(crate) struct WrittenTime {
    text: String,
    wall: DateTime,
    /// The offset, and the one in brackets.
    offsets: [Option<Offset>; 2],
    /// `Z`, with which a zone in brackets cannot disagree: it says nothing about the offset there (RFC 9557, 2.2).
    is_zulu: bool,
    zone: Option<String>,
}

impl WrittenTime {
    /// Reads the text.
    pub(crate) fn parse(text: &str) -> Result<Self, CronError> {
        Self::read(text).ok_or_else(|| CronError::Time {
            text: text.to_owned(),
        })
    }

    fn read(text: &str) -> Option<Self> {
        let pieces = Pieces::parse(text).ok()?;
        let annotation = pieces.time_zone_annotation();
        let (zone, in_brackets) = match annotation.map(|annotation| annotation.kind()) {
            Some(TimeZoneAnnotationKind::Named(name)) => (Some(name.as_str().to_owned()), None),
            Some(TimeZoneAnnotationKind::Offset(offset)) => (None, Some(*offset)),
            None => (None, None),
            Some(_) => return None,
        };
        let is_zulu = matches!(pieces.offset(), Some(PiecesOffset::Zulu));
        let wall = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let offsets = [pieces.to_numeric_offset(), in_brackets];
        Some(Self {
            text: text.to_owned(),
            wall,
            offsets,
            is_zulu,
            zone,
        })
    }

    /// Returns the zone in brackets, or `None` if there is none.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// Returns the moment. `zone` is the one in brackets, or that of the job.
    pub(crate) fn moment(&self, zone: &TimeZone) -> Result<Timestamp, CronError> {
        let [before, in_brackets] = self.offsets;
        let Some(offset) = before.or(in_brackets) else {
            return moment_of(self.wall, zone).ok_or_else(|| CronError::Time {
                text: self.text.clone(),
            });
        };
        let moment = offset
            .to_timestamp(self.wall)
            .map_err(|_| CronError::Time {
                text: self.text.clone(),
            })?;
        let there = in_brackets.or_else(|| self.zone.as_ref().map(|_| zone.to_offset(moment)));
        match there.filter(|there| *there != offset && !self.is_zulu) {
            Some(there) => Err(CronError::Offset {
                text: self.text.clone(),
                there: there.to_string(),
            }),
            None => Ok(moment),
        }
    }
}
