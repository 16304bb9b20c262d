//! [`Watch`]: the time for which a server has been there without a pause.

use jiff::Timestamp;

/// The seconds by which a run may be late without having been missed.
pub(crate) const LATE_SECONDS: i64 = 60;

/// The time since which a server has been there without a pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    since: Timestamp,
    /// The time at which the last wait was to end.
    until: Timestamp,
}

impl Watch {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { since: now, until: now }
    }

    pub(crate) fn since(&self) -> Timestamp {
        self.since
    }

    /// Notes that a wait begins, which is to end at a time.
    pub(crate) fn wait_until(&mut self, until: Timestamp) {
        self.until = until;
    }

    /// Notes the end of the wait. One that ends much too late was a suspended machine, or a clock that was set forward. A clock that was
    /// set back begins the time anew, so that no run is taken for a missed one.
    pub(crate) fn wake(&mut self, now: Timestamp) {
        let is_late = now.as_second() > self.until.as_second() + LATE_SECONDS;
        self.since = if is_late { now } else { self.since.min(now) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn only_a_wait_that_ends_much_too_late_interrupts_the_service() {
        let mut watch = Watch::new(at(1000));
        for (until, woken, since) in [(1100, 1160, 1000), (1200, 1261, 1261), (1300, 1100, 1100), (1200, 1150, 1100)] {
            watch.wait_until(at(until));
            watch.wake(at(woken));
            assert_eq!(watch.since(), at(since), "until {until}, woken at {woken}");
        }
    }
}
