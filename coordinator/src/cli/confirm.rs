//! What `jlpns solve` and `jlpns serve` are told about confirming what workers claim.

use jlpns_solve::SolveSettings;
use jlpns_solve::belief::{BeliefSettings, Confirm};

use super::{CommandError, values};

/// Refuses to have workers tell each other what they solve where that takes the point from confirming.
pub fn check_sharing(settings: &SolveSettings) -> Result<(), CommandError> {
    let confirm = settings.belief.confirm;
    if settings.share && !confirm.goes_with_sharing() {
        return Err(CommandError::BadInput(format!(
            "'--confirm {confirm}' does not go with '--share': with what workers have told each other nobody can say \
             which of them was wrong; write '--share=false', or '--confirm answer'"
        )));
    }
    Ok(())
}

/// The flags of both commands.
#[derive(Clone, Debug, clap::Args)]
pub struct ConfirmFlags {
    /// What is made sure of before an answer counts: that all that it rests on was claimed by two
    /// machines, or searched again by the coordinator (answer); that a certificate shows each of it, made by
    /// a worker and checked by the coordinator by the rules alone (proof); that a share of what is claimed was
    /// searched again, to find bad machines (sample); or nothing (none) [default: none for solve, answer for
    /// serve, and proof for serve with --certificate]
    #[arg(long, value_name = "WHAT", env = "JLPNS_CONFIRM", value_parser = values::confirm())]
    pub confirm: Option<Confirm>,

    /// The share of what proven machines claim that another one searches again whether the answer
    /// rests on it or not, from 0 to 1; of a new machine the first ten claims are
    #[arg(long, value_name = "SHARE", default_value = "0.01", env = "JLPNS_SAMPLE")]
    #[arg(value_parser = values::share, allow_hyphen_values = true)]
    sample: f64,
}

impl ConfirmFlags {
    /// Sets what was asked for, or else `default`.
    pub fn apply(&self, settings: &mut BeliefSettings, default: Confirm) {
        settings.confirm = self.confirm.unwrap_or(default);
        settings.sample = self.sample;
    }
}
