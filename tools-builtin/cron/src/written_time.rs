//! [`WrittenTime`]: the time of a job that runs once, as a text names it.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{Pieces, PiecesOffset, TimeZoneAnnotationKind};
use jiff::tz::{Offset, TimeZone};

use crate::CronError;
use crate::next::moment_of;

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
        let unknown = || CronError::Time {
            text: text.to_owned(),
        };
        let pieces = Pieces::parse(text).map_err(|_| unknown())?;
        let (zone, in_brackets) = match pieces
            .time_zone_annotation()
            .map(|annotation| annotation.kind())
        {
            Some(TimeZoneAnnotationKind::Named(name)) => (Some(name.as_str().to_owned()), None),
            Some(TimeZoneAnnotationKind::Offset(offset)) => (None, Some(*offset)),
            None => (None, None),
            Some(_) => return Err(unknown()),
        };
        let is_zulu = matches!(pieces.offset(), Some(PiecesOffset::Zulu));
        let wall = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let offsets = [pieces.to_numeric_offset(), in_brackets];
        Ok(Self {
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
