//! The worker's client against a coordinator that says what each test wants it to say, through
//! in-memory pipes.

mod patience;
mod stage;
mod streams;
