//! The certificates that come in on one worker's stream: part by part, each before its report.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use jlpns_proto::convert::WireError;
use jlpns_proto::v1;
use jlpns_search::Findings;
use jlpns_solve::{LeaseId, ProofId, Subject, WorkerId};
use tokio::task::spawn_blocking;
use tonic::Status;

use crate::driver::DriverHandle;
use crate::proofs::{IncomingCertificate, NotKept, ProofFolder};
use crate::service::subject;

/// How many certificates may wait for their reports: a worker sends one after the other.
const MOST_INCOMING: usize = 4;

/// The certificates of which parts have come and whose reports have not, by their leases.
#[derive(Default)]
pub(crate) struct Certificates {
    incoming: BTreeMap<u64, IncomingCertificate>,
}

impl Certificates {
    /// Takes a part in; nothing of it where the solve asks for no certificates: it may have when the job went out, before it
    /// was started anew.
    pub(crate) fn add(
        &mut self,
        part: v1::CertificatePart,
        proofs: Option<&Arc<ProofFolder>>,
    ) -> Result<(), Status> {
        let Some(proofs) = proofs else { return Ok(()) };
        let waiting = self.incoming.len();
        let incoming = match self.incoming.entry(part.lease_id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if waiting >= MOST_INCOMING => {
                return Err(invalid("too many certificates have come without their reports"));
            }
            Entry::Vacant(entry) => entry.insert(proofs.begin().map_err(refused)?),
        };
        incoming.add(&part.bytes).map_err(refused)
    }

    /// Checks the certificates that these reports come with: what each proves, or why it proves nothing, in the order
    /// of the reports, as a certificate stands behind its own report only. That takes its time, and only this worker
    /// waits for it. What comes with a report that nobody awaits is neither checked nor kept.
    pub(crate) async fn finish(
        &mut self,
        worker: WorkerId,
        reports: &[v1::Report],
        driver: &DriverHandle,
    ) -> Result<Vec<Option<Result<ProofId, String>>>, Status> {
        let mut found = Vec::with_capacity(reports.len());
        for report in reports {
            let (Some(bytes), Some(proofs)) = (report.certificate_bytes, driver.proofs()) else {
                found.push(None);
                continue;
            };
            let proofs = proofs.clone();
            let incoming = self.incoming.remove(&report.lease_id);
            let Some(incoming) = incoming.filter(|incoming| incoming.bytes() == bytes) else {
                // A report that has come before does not need them any more.
                found.push(Some(Err("parts of it are missing".to_owned())));
                continue;
            };
            let (about, findings) = about(report).map_err(|error| invalid(&error.to_string()))?;
            if !driver.awaits(worker, LeaseId(report.lease_id), about.clone()).await? {
                found.push(None);
                continue;
            }
            let checker = proofs.clone();
            let _turn = checker.turn().await;
            let keep = move || proofs.keep(incoming, &about.moves, about.question, &findings);
            let kept = spawn_blocking(keep).await.map_err(|error| {
                Status::internal(format!("the check of a certificate failed: {error}"))
            })?;
            let kept = match kept {
                Ok(proof) => Ok(proof),
                Err(NotKept::Bad(why)) => Err(why),
                Err(trouble) => return Err(refused(trouble)),
            };
            found.push(Some(kept));
        }
        Ok(found)
    }
}

/// What a report with a certificate is about, and what it found.
fn about(report: &v1::Report) -> Result<(Subject, Findings), WireError> {
    let about = report.subject.clone().ok_or(WireError::Missing("report.subject"))?;
    let findings = report.findings.clone().ok_or(WireError::Missing("report.findings"))?;
    Ok((subject(about)?, Findings::try_from(findings)?))
}

fn invalid(sentence: &str) -> Status {
    Status::invalid_argument(sentence)
}

/// What a worker is told whose certificate was not taken: it sends it again if this machine is to blame.
fn refused(why: NotKept) -> Status {
    match why {
        NotKept::Bad(why) => Status::invalid_argument(why),
        NotKept::Trouble(_) => Status::resource_exhausted(why.to_string()),
    }
}
