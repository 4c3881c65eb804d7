//! Small certificates of Connect Four: a strategy of few positions, most of which end in a plan.

mod board;
mod plan_finder;
mod smallest;

pub(crate) use smallest::{SmallStrategies, SmallStrategy};
