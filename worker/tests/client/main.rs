//! The worker's client against a coordinator that says what each test wants it to say, through
//! in-memory pipes.

mod games;
mod patience;
mod queue;
mod stage;
mod streams;
