//! The source.

use super::{done, refused};
use crate::ports::{Body as _, Pull, Source, UnitReader};
use crate::profile::UnitProfile;
use crate::run::{Receipt, Seen, UnitId};

/// A source of at least six rows in three units, one of which has no row.
pub trait SourceWorld {
    /// The source.
    type Source: Source;

    /// The source as a new process has it. All of them read the same rows.
    fn source(&self) -> Self::Source;

    /// Rows of all units together, now.
    fn rows(&self) -> u64;

    /// The unit without a row.
    fn empty(&self) -> UnitId;

    /// Bytes into which one row fits in every representation.
    fn row_grant(&self) -> u64;

    /// Someone adds rows and commits; false where nobody does, because the source was said not to change.
    fn change(&self) -> bool;
}

/// Checks a source, each rule on a world of its own.
pub async fn source<W: SourceWorld>(world: impl Fn() -> W) {
    every_row_once(&world()).await;
    grants_are_kept(&world()).await;
    one_state(&world()).await;
    states_come_back(&world()).await;
    closed(&world()).await;
}

/// More than any unit needs, without being more than a number of bytes can be.
const PLENTY: u64 = 1 << 30;

fn opened(receipt: Receipt) -> (String, bool) {
    match receipt {
        Receipt::Opened { authority, persistent } => (authority, persistent),
        other => panic!("opening earned {other:?}"),
    }
}

async fn counted(source: &impl Source) -> u64 {
    match done(source.count().await, "a count") {
        Receipt::Counted { rows } => rows,
        other => panic!("a count earned {other:?}"),
    }
}

/// What a unit came to: its profile, and the facts of each chunk.
async fn read<S: Source>(source: &S, unit: UnitId, grant: u64, max_rows: u64) -> (UnitProfile, Vec<u64>) {
    let mut reader = source.reader(unit).await.unwrap_or_else(|why| panic!("a reader: {why:?}"));
    let mut next = grant;
    let mut chunks = Vec::new();
    loop {
        match reader.next(next, max_rows).await {
            Ok(Pull::Chunk(chunk)) => {
                assert!(chunk.facts.rows > 0, "a chunk has rows");
                assert!(chunk.facts.rows <= max_rows, "a chunk has no more rows than were asked for");
                assert_eq!(chunk.facts.bytes, chunk.body.size(), "a chunk's size is its body's");
                chunks.push(chunk.facts.rows);
                next = grant;
            }
            Ok(Pull::NeedsGrant { bytes }) => {
                assert!(bytes > next, "a reader asks for more than the {next} bytes that it was granted, not {bytes}");
                next = bytes;
            }
            Ok(Pull::End { profile, .. }) => {
                assert_eq!(
                    profile.rows,
                    chunks.iter().sum::<u64>(),
                    "the profile is that of the rows that were yielded"
                );
                reader.close().await;
                return (profile, chunks);
            }
            Err(why) => panic!("a pull: {why:?}"),
        }
    }
}

async fn all<S: Source>(source: &S) -> Vec<UnitProfile> {
    let mut profiles = Vec::new();
    for unit in 0..3 {
        profiles.push(read(source, unit, PLENTY, u64::MAX).await.0);
    }
    profiles
}

fn sum(profiles: &[UnitProfile]) -> u64 {
    profiles.iter().map(|p| p.rows).sum()
}

async fn every_row_once<W: SourceWorld>(world: &W) {
    let source = world.source();
    opened(done(source.open(2).await, "opening"));
    assert!(world.rows() >= 6, "the suite needs some rows");
    assert_eq!(counted(&source).await, world.rows());
    let first = all(&source).await;
    assert_eq!(sum(&first), world.rows(), "the units together are the source");
    assert_eq!(first[world.empty() as usize].rows, 0);
    assert_eq!(all(&source).await, first, "a unit that is read again is the same");

    // As many at a time as there are sessions, each in steps of its own.
    let mut left = source.reader(0).await.unwrap_or_else(|why| panic!("a reader: {why:?}"));
    let (right, _) = read(&source, 1, PLENTY, u64::MAX).await;
    assert_eq!(right, first[1]);
    assert!(left.next(PLENTY, u64::MAX).await.is_ok());
    left.close().await;
    assert_eq!(all(&source).await, first, "a reader that was closed early gives its session back");
    source.close().await;
}

async fn grants_are_kept<W: SourceWorld>(world: &W) {
    let source = world.source();
    opened(done(source.open(1).await, "opening"));
    let whole = all(&source).await;
    for unit in 0..3 {
        let (by_one, chunks) = read(&source, unit, world.row_grant(), 1).await;
        assert_eq!(by_one, whole[unit as usize], "how rows are cut into chunks changes nothing about them");
        assert!(chunks.iter().all(|rows| *rows == 1));
    }
    source.close().await;
}

async fn one_state<W: SourceWorld>(world: &W) {
    let source = world.source();
    let (first, _) = opened(done(source.open(1).await, "opening"));
    let before = all(&source).await;
    if !world.change() {
        return source.close().await;
    }
    assert_eq!(all(&source).await, before, "rows that come later are of another state");
    assert_eq!(counted(&source).await, sum(&before), "they are not counted either");
    let (second, _) = opened(done(source.open(1).await, "opening again, in place of what is open"));
    assert_ne!(first, second, "another state has another identity");
    assert_eq!(counted(&source).await, world.rows());
    let after = all(&source).await;
    assert_eq!(sum(&after), world.rows());
    assert!(sum(&after) > sum(&before), "the suite's change adds rows");
    source.close().await;
}

async fn states_come_back<W: SourceWorld>(world: &W) {
    let source = world.source();
    let (authority, persistent) = opened(done(source.open(1).await, "opening"));
    let before = all(&source).await;
    assert_eq!(source.reopen(&authority, persistent, 1).await, Seen::Ours, "what is open is recognised");
    assert_eq!(all(&source).await, before);
    assert_eq!(source.reopen("of another time", persistent, 1).await, Seen::Nothing);
    source.close().await;

    let later = world.source();
    let seen = later.reopen(&authority, persistent, 1).await;
    let expect = if persistent { Seen::Ours } else { Seen::Nothing };
    assert_eq!(seen, expect, "only a state that survives its process is opened by the next one");
    if persistent {
        assert_eq!(all(&later).await, before, "a state that is opened again is the same");
    }
    later.close().await;
}

async fn closed<W: SourceWorld>(world: &W) {
    let source = world.source();
    source.close().await;
    refused(source.count().await, "a count before anything is open");
    assert!(source.reader(0).await.is_err(), "there is no reader before anything is open");
    opened(done(source.open(1).await, "opening"));
    source.close().await;
    source.close().await;
    refused(source.count().await, "a count after the end");
    assert!(source.reader(0).await.is_err(), "there is no reader after the end");
    opened(done(source.open(1).await, "opening after the end"));
    assert_eq!(sum(&all(&source).await), world.rows());
    source.close().await;
}
