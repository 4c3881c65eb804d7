//! `--slots`: how many searches run at a time in this process.

use super::values;

/// The flag of all commands that search here.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct SlotFlags {
    /// How many searches to run at a time [default: auto, one for each core]
    #[arg(long, value_name = "N", env = "JLPNS_SLOTS", allow_hyphen_values = true)]
    #[arg(value_parser = values::slots)]
    slots: Option<u32>,
}

impl SlotFlags {
    /// How many searches run at a time.
    pub fn count(self) -> u32 {
        self.slots.unwrap_or_else(values::cores)
    }
}
