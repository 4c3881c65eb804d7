//! What is asked of the queue of a coordinator, within a runtime.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use jlpns_link::connect::TokenChannel;
use jlpns_proto::MAX_NUMBERS;
use jlpns_proto::v1::queue_client::QueueClient;
use jlpns_proto::v1::{
    CancelEntriesRequest, FollowEntriesRequest, GetQueueStatusRequest, ListEntriesRequest,
    QueueEntry, QueueStatus, SubmitRequest,
};
use tokio::time::sleep;
use tonic::Code;
use tracing::warn;

use super::super::CommandError;
use super::super::ask::{Answers, Coordinator, NoAnswer};
use super::entry::State;
use crate::queue::words::state_to_wire;

/// How long a coordinator may take to answer, or to send the next entry of those that it has.
const LIMIT: Duration = Duration::from_secs(30);
/// How long what was submitted is sent again.
const RESEND: Duration = Duration::from_secs(30);
/// How long after a failure the next try comes.
pub const RETRY: Duration = Duration::from_secs(1);

/// The queue of a coordinator.
pub struct RemoteQueue {
    coordinator: Coordinator,
}

/// Why a command about a queue has no answer.
pub fn told(error: NoAnswer) -> CommandError {
    match error {
        NoAnswer::Refused { name, code: Code::Unimplemented, .. } => CommandError::Failed(anyhow!(
            "the coordinator at {name} holds no queue; it was started without --queue"
        )),
        NoAnswer::Refused { code: Code::NotFound | Code::InvalidArgument, why, .. } => {
            CommandError::BadInput(why)
        }
        other => CommandError::Failed(other.into()),
    }
}

fn client(line: TokenChannel) -> QueueClient<TokenChannel> {
    QueueClient::new(line)
}

/// The numbers as a request names them; none, which stands for all, where there are too many of them.
fn named(numbers: &BTreeSet<u64>) -> Vec<u64> {
    if numbers.len() > MAX_NUMBERS { Vec::new() } else { numbers.iter().copied().collect() }
}

impl RemoteQueue {
    /// The queue of this coordinator.
    pub fn of(coordinator: Coordinator) -> RemoteQueue {
        RemoteQueue { coordinator }
    }

    /// The coordinator, as it was named.
    pub fn name(&self) -> &str {
        self.coordinator.name()
    }

    /// The state of the queue as a whole.
    pub async fn status(&self) -> Result<QueueStatus, CommandError> {
        let request = GetQueueStatusRequest {};
        let answer = self
            .coordinator
            .question(LIMIT, async |line| client(line).get_queue_status(request).await);
        answer.await.map_err(told)
    }

    /// Submits entries, and has their numbers. Where the answer is lost, it asks again; also where there is no
    /// connection, unless this request `is_first`.
    pub async fn submit(
        &self,
        request: &SubmitRequest,
        is_first: bool,
    ) -> Result<Vec<u64>, CommandError> {
        let since = Instant::now();
        let mut was_there = !is_first;
        loop {
            let request = request.clone();
            let answer = self
                .coordinator
                .question(LIMIT, async |line| client(line).submit(request).await)
                .await;
            let error = match answer {
                Ok(reply) => return Ok(reply.numbers),
                Err(error) => error,
            };
            was_there |= !matches!(error, NoAnswer::Unreached { .. });
            if !was_there || !error.may_pass() || since.elapsed() >= RESEND {
                return Err(told(error));
            }
            warn!("{error}; what was submitted is sent again");
            sleep(RETRY).await;
        }
    }

    /// Takes entries out of the queue; how many were taken out.
    pub async fn cancel(&self, numbers: &BTreeSet<u64>) -> Result<u64, CommandError> {
        let numbers: Vec<u64> = numbers.iter().copied().collect();
        let mut cancelled = 0;
        for part in numbers.chunks(MAX_NUMBERS) {
            let request = CancelEntriesRequest { numbers: part.to_vec() };
            let answer = self
                .coordinator
                .question(LIMIT, async |line| client(line).cancel_entries(request).await);
            cancelled += u64::from(answer.await.map_err(told)?.cancelled);
        }
        Ok(cancelled)
    }

    /// Hands out the entries of these numbers, or all if there are none, that are in one of the states, or in any if
    /// there are none; in the order of their numbers, up to where `take` breaks it off. A number that is of no entry is
    /// an error, if all states are asked for.
    pub async fn each(
        &self,
        numbers: &BTreeSet<u64>,
        states: &[State],
        mut take: impl FnMut(QueueEntry) -> Result<ControlFlow<()>, CommandError>,
    ) -> Result<(), CommandError> {
        let request = ListEntriesRequest {
            numbers: named(numbers),
            states: states.iter().map(|state| i32::from(state_to_wire(*state))).collect(),
        };
        let stream =
            self.coordinator.stream(LIMIT, async |line| client(line).list_entries(request).await);
        let mut entries = stream.await.map_err(told)?;
        let mut missing = numbers.clone();
        while let Some(entry) = entries.next_within(LIMIT).await.map_err(told)? {
            let is_meant = numbers.is_empty() || missing.remove(&entry.number);
            if is_meant && take(entry)?.is_break() {
                return Ok(());
            }
        }
        match missing.first() {
            Some(number) if states.is_empty() => Err(CommandError::BadInput(format!(
                "the queue of the coordinator at {} has no entry {number}; `jlpns queue --all` lists those that it has",
                self.name()
            ))),
            _ => Ok(()),
        }
    }

    /// Entries of these numbers, and perhaps others, each as soon as it has ended.
    pub async fn follow(
        &self,
        numbers: &BTreeSet<u64>,
    ) -> Result<Answers<'_, QueueEntry>, NoAnswer> {
        let request = FollowEntriesRequest { numbers: named(numbers) };
        let stream =
            self.coordinator.stream(LIMIT, async |line| client(line).follow_entries(request).await);
        stream.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: Code) -> CommandError {
        told(NoAnswer::Refused { name: "http://a:1".to_owned(), code, why: "why".to_owned() })
    }

    #[test]
    fn a_coordinator_without_a_queue_is_told() {
        let CommandError::Failed(error) = refused(Code::Unimplemented) else {
            panic!("it is no bad input")
        };
        let sentence =
            "the coordinator at http://a:1 holds no queue; it was started without --queue";
        assert_eq!(error.to_string(), sentence);
    }

    #[test]
    fn what_the_coordinator_finds_wrong_in_a_request_is_bad_input() {
        for code in [Code::NotFound, Code::InvalidArgument] {
            assert!(matches!(refused(code), CommandError::BadInput(why) if why == "why"));
        }
        let CommandError::Failed(error) = refused(Code::PermissionDenied) else {
            panic!("it is no bad input")
        };
        assert_eq!(error.to_string(), "the coordinator at http://a:1 refused to answer: why");
    }

    #[test]
    fn more_numbers_than_a_request_may_have_are_all() {
        let few: BTreeSet<u64> = (1..=MAX_NUMBERS as u64).collect();
        assert_eq!(named(&few).len(), MAX_NUMBERS);
        assert!(named(&(0..=MAX_NUMBERS as u64).collect()).is_empty());
    }
}
