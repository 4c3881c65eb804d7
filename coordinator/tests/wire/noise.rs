//! Random bytes and random well-formed messages at the service: no panic, no hang, and the solve
//! behind it comes to the right value in the end.

use std::sync::Arc;

use jlpns_games::Outcome;
use jlpns_proto::v1;
use jlpns_proto::v1::worker_message::Kind as FromWorker;
use jlpns_search::sub_search::SubSearches;
use jlpns_worker::client::{Wanted, WorkerEnd, run_worker};
use proptest::prelude::*;
use prost::bytes::BufMut;
use tokio::sync::watch;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::{Code, Request, Status};
use tonic_prost::ProstDecoder;

use crate::stage::{Coordinator, hello, settings, within_a_minute};

/// Sends bytes as they are.
struct Raw;

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = v1::CoordinatorMessage;
    type Encoder = Raw;
    type Decoder = ProstDecoder<v1::CoordinatorMessage>;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::default()
    }
}

/// Sends these messages on a stream of their own; returns how the coordinator ended it.
async fn send_raw(coordinator: &Coordinator, messages: Vec<Vec<u8>>) -> Option<Status> {
    let mut client = tonic::client::Grpc::new(coordinator.channel().await);
    client.ready().await.expect("a channel");
    let path = "/jlpns.v1.Solver/Work".parse().expect("a path");
    let request = Request::new(tokio_stream::iter(messages));
    let mut answers = match client.streaming(request, path, Raw).await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return Some(status),
    };
    loop {
        match answers.message().await {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(status) => return Some(status),
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_message_are_refused() {
    within_a_minute(async {
        let coordinator = Coordinator::start(settings("connect4:4x3"));
        let hello = v1::WorkerMessage::from(FromWorker::Hello(hello()));
        let hello = prost::Message::encode_to_vec(&hello);
        for messages in [vec![vec![0xff]], vec![hello, vec![0xff]]] {
            let status = send_raw(&coordinator, messages).await.expect("a refusal");
            assert_eq!(status.code(), Code::InvalidArgument);
            assert!(status.message().starts_with("a message could not be read: "), "{status}");
        }
        coordinator.until(|status| status.workers.is_empty()).await;
    })
    .await;
}

/// Findings of every shape, sound and unsound. None claims to have solved anything: what a worker
/// proves is believed.
fn findings() -> impl Strategy<Value = Option<v1::Findings>> {
    let number = prop_oneof![8 => 1u32..1_000_000, 1 => Just(u32::MAX - 1)];
    let unsound = prop_oneof![Just(vec![0, 0]), Just(vec![u32::MAX, 7]), Just(vec![1])];
    let efforts = prop_oneof![
        6 => prop::collection::vec(number.clone(), 2),
        2 => prop::collection::vec(number, 0..8),
        1 => unsound,
    ];
    let children = prop_oneof![
        Just(Vec::new()),
        Just((0..4).collect::<Vec<u32>>()),
        prop::collection::vec(0u32..70_000, 0..6),
    ];
    let best = prop_oneof![Just(None), (0u32..5).prop_map(Some), any::<u32>().prop_map(Some)];
    let nodes = prop_oneof![0u64..100_000, any::<u64>()];
    let sound = (efforts.clone(), children, efforts, nodes, best).prop_map(
        |(efforts, moves, child, nodes, most_proving_move)| v1::Findings {
            efforts,
            children: moves
                .into_iter()
                .map(|r#move| v1::ChildFindings { r#move, efforts: child.clone() })
                .collect(),
            nodes,
            most_proving_move,
        },
    );
    prop::option::weighted(0.95, sound)
}

fn lease_id() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..8, 1 => any::<u64>()]
}

fn message() -> impl Strategy<Value = FromWorker> {
    let hello = (any::<u32>(), ".{0,5}", any::<u32>(), any::<u64>()).prop_map(
        |(protocol_version, name, slots, memory_bytes)| {
            FromWorker::Hello(v1::Hello {
                protocol_version,
                name,
                slots,
                memory_bytes,
                ..Default::default()
            })
        },
    );
    let progress = (lease_id(), findings())
        .prop_map(|(lease_id, findings)| v1::Progress { lease_id, findings });
    let report = (lease_id(), findings(), any::<u32>()).prop_map(|(lease_id, findings, us)| {
        v1::Report { lease_id, findings, elapsed_us: u64::from(us), ..Default::default() }
    });
    let decline =
        (lease_id(), ".{0,20}").prop_map(|(lease_id, reason)| v1::Decline { lease_id, reason });
    let solved = (any::<u64>(), 0u32..600, any::<u32>(), prop::bool::weighted(0.1)).prop_map(
        |(step, fact, work, is_short)| v1::SolvedPositions {
            key_steps: vec![step],
            keys_high: Vec::new(),
            facts: vec![fact],
            work: if is_short { Vec::new() } else { vec![work] },
        },
    );
    let batch = (
        prop::collection::vec(lease_id(), 0..4),
        prop::collection::vec(progress, 0..3),
        prop::collection::vec(report, 0..3),
        prop::collection::vec(decline, 0..2),
        prop::bool::weighted(0.1),
        prop::option::weighted(0.1, any::<bool>()),
        prop::option::of(solved),
    );
    let batch =
        batch.prop_map(|(renewals, progress, reports, declines, draining, paused, solved)| {
            let lists = v1::WorkerBatch {
                renewals,
                progress,
                reports,
                declines,
                draining,
                solved,
                paused,
                idle_reason: String::new(),
            };
            FromWorker::Batch(lists)
        });
    prop_oneof![1 => hello, 12 => batch]
}

/// Makes a noise, and then has an honest worker solve the game.
fn the_value_is_found_after<N: Future<Output = ()>>(noise: impl FnOnce(Arc<Coordinator>) -> N) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(within_a_minute(async {
        let coordinator = Arc::new(Coordinator::start(settings("connect4:4x3")));
        noise(coordinator.clone()).await;
        let coordinator = Arc::into_inner(coordinator).expect("the noise is over");
        // The time between two attempts matters only if the noise has broken something.
        let config = crate::stage::worker_config("honest", 1);
        let (_keep, asked) = watch::channel(Wanted::Work);
        let end = run_worker(config, Arc::new(SubSearches), coordinator.pipe.clone(), asked).await;
        assert_eq!(end.expect("a good end"), WorkerEnd::SolveOver("the value is draw".to_owned()));
        let solve = coordinator.end().await;
        let value = solve.end().and_then(|end| end.bounds.value());
        assert_eq!(value, Some(Outcome(1)));
    }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn random_bytes_do_no_harm(
        streams in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..4), 1..4),
        after_hello in any::<bool>(),
    ) {
        the_value_is_found_after(|coordinator| async move {
            for mut messages in streams {
                if after_hello {
                    let hello = v1::WorkerMessage::from(FromWorker::Hello(hello()));
                    messages.insert(0, prost::Message::encode_to_vec(&hello));
                }
                send_raw(&coordinator, messages).await;
            }
        });
    }

    #[test]
    fn random_messages_do_no_harm(
        streams in prop::collection::vec(prop::collection::vec(message(), 0..12), 1..4),
    ) {
        the_value_is_found_after(|coordinator| async move {
            for messages in streams {
                let stream = coordinator.join(2).await;
                for message in messages {
                    stream.say(message).await;
                }
                // The driver has seen the end of the stream before the next begins.
                drop(stream);
                coordinator.until(|status| status.workers.is_empty()).await;
            }
        });
    }
}
