//! [`Service`]: the unbroken service of a workspace, which its servers share.

use jiff::Timestamp;

/// The seconds for which a server that goes on may be absent without breaking the service.
pub(crate) const ABSENCE: i64 = 60;

/// The seconds for a server that looks once, because a timer of the system starts the next one. The longest absence. An hourly timer is
/// sometimes late.
pub(crate) const ABSENCE_OF_ONCE: i64 = 7200;

/// The time for which the jobs of a workspace have been served without a pause, as the store knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) since: Timestamp,
    /// The time until which the next look continues the service.
    pub(crate) until: Timestamp,
}

/// A look of one server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presence {
    pub(crate) now: Timestamp,
    /// The seconds for which it may be absent now.
    pub(crate) absence: i64,
}

impl Presence {
    /// Returns true if the store knows enough of this look, so that most looks write nothing. One that is the only look is written.
    pub(crate) fn is_known(self, recorded: Option<Service>) -> bool {
        recorded
            .filter(|_| self.absence < ABSENCE_OF_ONCE)
            .is_some_and(|known| {
                let until = known.until.as_second() - self.now.as_second();
                self.continue_service(recorded).since == known.since
                    && (self.absence / 2..=ABSENCE_OF_ONCE).contains(&until)
            })
    }

    fn after(self, seconds: i64) -> Timestamp {
        let later = jiff::SignedDuration::from_secs(seconds);
        self.now.saturating_add(later).unwrap_or(self.now)
    }

    /// Returns the service with this look.
    pub(crate) fn continue_service(self, recorded: Option<Service>) -> Service {
        let until = self.after(self.absence);
        match recorded {
            // A time further ahead is of a clock that was set back since.
            Some(known) if self.now <= known.until => Service {
                since: known.since.min(self.now),
                until: if known.until <= self.after(ABSENCE_OF_ONCE) {
                    known.until.max(until)
                } else {
                    until
                },
            },
            _ => Service {
                since: self.now,
                until,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn service(since: i64, until: i64) -> Service {
        Service {
            since: at(since),
            until: at(until),
        }
    }

    #[test]
    fn a_server_continues_the_service_that_it_meets_and_else_begins_one() {
        for (recorded, expected) in [
            (None, service(1000, 1060)),
            (Some(service(0, 1000)), service(0, 1060)),
            (Some(service(0, 999)), service(1000, 1060)),
            // A timer looks again within two hours.
            (Some(service(0, 8200)), service(0, 8200)),
            // The clock was set back.
            (Some(service(9000, 9060)), service(1000, 1060)),
        ] {
            let continued = Presence {
                now: at(1000),
                absence: ABSENCE,
            }
            .continue_service(recorded);
            assert_eq!(continued, expected, "{recorded:?}");
        }
    }

    #[test]
    fn a_look_is_written_if_the_store_would_soon_forget_the_server() {
        for (recorded, is_known) in [
            (None, false),
            (Some(service(0, 1060)), true),
            (Some(service(0, 1030)), true),
            (Some(service(0, 1029)), false),
            (Some(service(1050, 1060)), false),
            (Some(service(0, 9000)), false),
        ] {
            let look = Presence {
                now: at(1000),
                absence: ABSENCE,
            };
            assert_eq!(look.is_known(recorded), is_known, "{recorded:?}");
        }
    }

    #[test]
    fn a_timer_that_looks_at_least_once_an_hour_and_is_a_little_late_serves_without_a_pause() {
        for looks in [
            vec![0, 3601, 7260],
            vec![0, 29 * 60, 89 * 60],
            vec![0, 59 * 60, 121 * 60],
        ] {
            let mut recorded = None;
            for second in &looks {
                let look = Presence {
                    now: at(*second),
                    absence: ABSENCE_OF_ONCE,
                };
                if !look.is_known(recorded) {
                    recorded = Some(look.continue_service(recorded));
                }
            }
            let last = looks.last().copied().unwrap_or_default();
            assert_eq!(
                recorded,
                Some(service(0, last + ABSENCE_OF_ONCE)),
                "{looks:?}"
            );
        }
    }
}
