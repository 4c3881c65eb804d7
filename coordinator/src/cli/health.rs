//! `jlpns health`: whether a coordinator is serving, for health checks of containers.

use std::time::Duration;

use jlpns_link::credentials::CredentialFlags;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::ask::CoordinatorFlags;
use super::{CommandError, End};

/// How long a coordinator may take to answer.
const LIMIT: Duration = Duration::from_secs(3);

/// What `jlpns health` is given.
#[derive(Debug, clap::Args)]
pub struct HealthFlags {
    #[command(flatten)]
    coordinator: CoordinatorFlags,

    #[command(flatten)]
    credentials: CredentialFlags,
}

/// Asks the gRPC health service for the server as a whole.
pub fn run(flags: &HealthFlags) -> Result<End, CommandError> {
    let coordinator = flags.coordinator.find(&flags.credentials)?;
    let answer = coordinator.ask(LIMIT, async |line| {
        HealthClient::new(line).check(HealthCheckRequest { service: String::new() }).await
    })?;
    if answer.status() == ServingStatus::Serving {
        Ok(End::Solved)
    } else {
        eprintln!(
            "error: {} is not serving: {}",
            coordinator.name(),
            answer.status().as_str_name()
        );
        Ok(End::Failed)
    }
}
