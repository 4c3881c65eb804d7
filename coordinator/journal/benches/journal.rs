//! How many records a second the journal makes durable, by the size of its commits, and by the
//! writer's thread, which finds the size itself. The disk that counts is that of the directory for
//! temporary files (`TMPDIR`).

use std::hint::black_box;
use std::path::Path;
use std::sync::mpsc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jlpns_journal::{Header, Journal, Record, WriteRequest, Writer, WriterEvent};

/// Bytes of a record: about those of a report.
const LENGTH: usize = 200;
/// Records that are ordered of the writer at once, one by one.
const ORDERS: u64 = 10_000;

fn open(directory: &Path) -> Journal {
    let header = Header { solve_id: "bench".to_owned(), facts: Vec::new() };
    Journal::open(directory, &header).expect("a journal").journal
}

fn records(after: u64, count: u64) -> Vec<Record> {
    (after + 1..=after + count)
        .map(|number| Record { number, bytes: vec![number as u8; LENGTH] })
        .collect()
}

fn commits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("journal/commit");
    for size in [1, 16, 256, 1024] {
        let parent = tempfile::tempdir().expect("a directory");
        let mut journal = open(parent.path());
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                let records = records(journal.last(), size);
                journal.append(black_box(&records)).expect("appended");
            });
        });
    }
    group.finish();
}

fn writer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("journal/writer");
    group.sample_size(10).throughput(Throughput::Elements(ORDERS));
    let parent = tempfile::tempdir().expect("a directory");
    let mut last = 0;
    let (tell, told) = mpsc::channel();
    let writer = Writer::start(open(parent.path()), move |notice| {
        if let WriterEvent::Durable { through } = notice {
            let _ = tell.send(through);
        }
    })
    .expect("a thread");
    group.bench_function("one record an order", |bencher| {
        bencher.iter_batched(
            || {
                last += ORDERS;
                (last, records(last - ORDERS, ORDERS))
            },
            |(through, records)| {
                for record in records {
                    writer.request(WriteRequest::Append(vec![record]));
                }
                while told.recv().expect("a notice") < through {}
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
    writer.finish().expect("all on disk");
}

criterion_group!(benches, commits, writer);
criterion_main!(benches);
