//! The name that was meant by one that does not exist.

/// How alike two names must be, from 0 to 1, for one to be offered in place of the other.
const ALIKE: f64 = 0.75;

/// The name that is most like this one, if one is.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|other| (strsim::jaro_winkler(name, other), other))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, other)| other)
}
