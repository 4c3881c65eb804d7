//! One question to a running coordinator.

use std::error::Error;
use std::time::Duration;

use anyhow::{Context, anyhow};
use jlpns_link::causes::with_causes;
use jlpns_link::connect::{Connector, Dial, TokenChannel};
use jlpns_link::distrust::{Distrust, lost};
use tonic::{Response, Status};

/// Connects and asks; both together may take `limit`.
pub fn ask<T>(
    url: &str,
    dial: &Dial,
    limit: Duration,
    question: impl AsyncFnOnce(TokenChannel) -> Result<Response<T>, Status>,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = async {
        let unreached = |why: String| anyhow!("no coordinator can be reached at {url}: {why}");
        let line = dial.connect().await.map_err(|error| {
            unreached(
                Distrust::behind(&error).map_or_else(|| with_causes(&error), Distrust::to_string),
            )
        })?;
        let response = question(line).await.map_err(|status| match status.source() {
            // Errors of the connection have a cause, refusals have none.
            Some(_) => unreached(lost(&status)),
            None => anyhow!("the coordinator at {url} refused to answer: {}", status.message()),
        })?;
        Ok(response.into_inner())
    };
    let in_time = runtime.block_on(async { tokio::time::timeout(limit, answer).await });
    in_time.with_context(|| format!("the coordinator at {url} gave no answer in {limit:?}"))?
}
