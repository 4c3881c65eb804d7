//! The checker against certificates that are true, false and damaged, of games written a second time and by brute
//! force.

mod command;
mod damage;
mod headers;
mod naive;
mod plans;
mod python;
mod settings;
mod strategies;
