//! Until when a worker may work, by the clock on the wall: a time of day, or a day and a time.

use std::ops::RangeInclusive;
use std::str::FromStr;

use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, Zoned};

/// When a worker's time ends, as it was written; in the machine's time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Until {
    text: String,
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// The next time that it is so late.
    Time(Time),
    /// This moment.
    Moment(DateTime),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        let time_of_day = |text: &str| {
            let parts = text.split(':').zip([1..=2, 2..=2, 2..=2, 0..=0]);
            let parts: Option<Vec<i8>> = parts.map(|(text, digits)| number(text, digits)).collect();
            match parts?[..] {
                [hours, minutes] => Time::new(hours, minutes, 0, 0).ok(),
                [hours, minutes, seconds] => Time::new(hours, minutes, seconds, 0).ok(),
                _ => None,
            }
        };
        let moment = || {
            let (day, time) = text.split_once(['T', ' '])?;
            Some(day.parse::<jiff::civil::Date>().ok()?.to_datetime(time_of_day(time)?))
        };
        let when = time_of_day(text).map(When::Time).or_else(|| moment().map(When::Moment));
        let when = when.ok_or(
            "write a time of day, such as 07:30, or a day and a time, such as 2030-01-31T07:30",
        )?;
        Ok(Until { text: text.to_owned(), when })
    }
}

/// A number of so many digits.
fn number(text: &str, digits: RangeInclusive<usize>) -> Option<i8> {
    let is_one = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_one { text.parse().ok() } else { None }
}

impl Until {
    /// The moment at which the time ends, if it is `now`: later than that. The error is one sentence.
    pub fn after(&self, now: &Zoned) -> Result<Timestamp, String> {
        let zone = || now.time_zone().clone();
        let never =
            |error: jiff::Error| format!("there is no such time in this time zone: {error}");
        let end = match self.when {
            When::Moment(moment) => moment.to_zoned(zone()).map_err(never)?,
            When::Time(time) => {
                let tomorrow = now.date().tomorrow().map_err(never)?;
                let mut end = None;
                for day in [now.date(), tomorrow] {
                    let of_day = || now.time_zone().to_ambiguous_zoned(day.to_datetime(time));
                    // In an hour that comes twice so does the time. One that is left out comes as much later, but is
                    // over once the clocks have gone forward.
                    let twice = [of_day().earlier(), of_day().later()];
                    for moment in twice {
                        let moment = moment.map_err(never)?;
                        let is_left_out = moment.time() != time;
                        let has_gone_by = now.date() == day && now.time() >= time;
                        let is_over =
                            moment <= *now || is_left_out && (moment.time() < time || has_gone_by);
                        end = end.or_else(|| (!is_over).then_some(moment));
                    }
                }
                end.ok_or_else(|| format!("{time} does not come within two days"))?
            }
        };
        if end > *now {
            Ok(end.timestamp())
        } else {
            let now = now.strftime("%Y-%m-%d %H:%M");
            Err(format!("{} is over, it is {now}; write a time to come", self.text))
        }
    }

    /// Why a worker ends then.
    pub fn reason(&self) -> String {
        format!("it is {}, the time that --until names", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse().expect("a time")
    }

    #[test]
    fn a_time_of_day_is_the_next_one() {
        let until: Until = "07:30".parse().expect("a time");
        for (now, end) in [
            (
                "2026-03-02T06:59:00+01:00[Europe/Vienna]",
                "2026-03-02T07:30:00+01:00[Europe/Vienna]",
            ),
            (
                "2026-03-02T07:30:00+01:00[Europe/Vienna]",
                "2026-03-03T07:30:00+01:00[Europe/Vienna]",
            ),
            (
                "2026-12-31T22:00:00+01:00[Europe/Vienna]",
                "2027-01-01T07:30:00+01:00[Europe/Vienna]",
            ),
            // The clocks go forward in between.
            (
                "2026-03-28T22:00:00+01:00[Europe/Vienna]",
                "2026-03-29T07:30:00+02:00[Europe/Vienna]",
            ),
        ] {
            assert_eq!(until.after(&at(now)), Ok(at(end).timestamp()), "{now}");
        }
        let gap: Until = "2:30".parse().expect("a time");
        let night = at("2026-03-28T22:00:00+01:00[Europe/Vienna]");
        assert_eq!(
            gap.after(&night),
            Ok(at("2026-03-29T03:30:00+02:00[Europe/Vienna]").timestamp())
        );
    }

    #[test]
    fn a_time_that_comes_twice_or_not_at_all_is_the_next_one_too() {
        let until: Until = "2:30".parse().expect("a time");
        for (now, end) in [
            // The clocks go back at three.
            (
                "2026-10-25T01:00:00+02:00[Europe/Vienna]",
                "2026-10-25T02:30:00+02:00[Europe/Vienna]",
            ),
            (
                "2026-10-25T02:40:00+02:00[Europe/Vienna]",
                "2026-10-25T02:30:00+01:00[Europe/Vienna]",
            ),
            (
                "2026-10-25T02:10:00+01:00[Europe/Vienna]",
                "2026-10-25T02:30:00+01:00[Europe/Vienna]",
            ),
            (
                "2026-10-25T02:30:00+01:00[Europe/Vienna]",
                "2026-10-26T02:30:00+01:00[Europe/Vienna]",
            ),
            // They go forward at two.
            (
                "2026-03-29T03:10:00+02:00[Europe/Vienna]",
                "2026-03-30T02:30:00+02:00[Europe/Vienna]",
            ),
        ] {
            assert_eq!(until.after(&at(now)), Ok(at(end).timestamp()), "{now}");
        }
    }

    #[test]
    fn a_moment_must_be_to_come() {
        let until: Until = "2026-03-02T07:30".parse().expect("a time");
        let end = at("2026-03-02T07:30:00+00:00[UTC]");
        assert_eq!(until.after(&at("2026-02-02T08:00:00+00:00[UTC]")), Ok(end.timestamp()));
        let late = until.after(&at("2026-03-02T07:30:01+00:00[UTC]"));
        assert_eq!(
            late,
            Err("2026-03-02T07:30 is over, it is 2026-03-02 07:30; write a time to come".to_owned())
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for bad in [
            "",
            "7",
            "24:00",
            "07:60",
            "07:30:60",
            "1:02:03:04",
            "07:3",
            "7:3:0",
            "-1:30",
            "+7:30",
            "noon",
            "2026-13-01T07:30",
            "007:30",
        ] {
            assert!(bad.parse::<Until>().unwrap_err().contains("such as 07:30"), "{bad}");
        }
    }
}
