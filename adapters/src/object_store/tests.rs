#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::Path;

use bytes::Bytes;
use dpone_engine::codes::Code;
use dpone_engine::ports::ObjectStore as _;
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Seen};

use super::LocalObjects;
use crate::body::Body;
use crate::digest::sha256;
use crate::durable::watch;

const KEY: &str = "orders/run-1/a1-00/r0.t1/c0.parquet";

fn content(text: &[u8]) -> (ChunkFacts, Body) {
    let facts = ChunkFacts { rows: 1, bytes: text.len() as u64, sha256: sha256(text) };
    let halves = text.split_at(text.len() / 2);
    (facts, Body::new(vec![Bytes::copy_from_slice(halves.0), Bytes::copy_from_slice(halves.1)]))
}

fn store() -> (tempfile::TempDir, LocalObjects) {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalObjects::open(&dir.path().join("objects")).unwrap();
    (dir, store)
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() { folders.push(path) } else { found.push(name) }
        }
    }
    found.sort();
    found
}

fn refusal(outcome: Outcome) -> Code {
    match outcome {
        Outcome::NotDone(why) => why.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_object_is_whole_or_not_there() {
    let (_dir, store) = store();
    for text in [&b"some bytes"[..], b"", &[7; 3_000_000]] {
        let (facts, body) = content(text);
        assert_eq!(store.head(KEY, &facts).await, Seen::Nothing);
        let outcome = store.put(KEY, &facts, &body).await;
        assert_eq!(outcome, Outcome::Done(Receipt::Put { checked_by: "size_read_back".into() }));
        assert_eq!(files(&store.root), [KEY]);
        assert_eq!(store.head(KEY, &facts).await, Seen::Ours);
        let got = store.get(KEY, &facts).await.unwrap();
        assert_eq!(got.segments().concat(), text);
        assert_eq!(store.delete(KEY).await, Outcome::Done(Receipt::Dropped));
        assert_eq!(store.delete(KEY).await, Outcome::Done(Receipt::Dropped));
        assert!(files(&store.root).is_empty() && store.root.join("orders").is_dir());
        assert!(!store.root.join("orders/run-1").exists());
    }
}

#[tokio::test]
async fn a_second_put_settles_by_content() {
    let (_dir, store) = store();
    let (facts, body) = content(b"first");
    store.put(KEY, &facts, &body).await;
    assert!(matches!(store.put(KEY, &facts, &body).await, Outcome::Done(_)));
    for other in [&b"other"[..], b"longer than it"] {
        let (facts, body) = content(other);
        assert_eq!(refusal(store.put(KEY, &facts, &body).await), Code::ObjectKeyConflict);
        assert_eq!(store.head(KEY, &facts).await, Seen::Foreign);
        assert_eq!(store.get(KEY, &facts).await.unwrap_err().code, Code::ObjectLost);
    }
    assert_eq!(store.get(KEY, &facts).await.unwrap().segments().concat(), b"first");
}

#[tokio::test]
async fn a_name_taken_between_look_and_link_is_never_replaced() {
    let (_dir, store) = store();
    let (facts, body) = content(b"mine");
    // What a rival's rename would look like: the part is there and so is the name.
    assert_eq!(store.write_part(KEY, &facts, &body).await, None);
    fs::write(store.root.join(KEY), b"rival").unwrap();
    assert_eq!(refusal(store.put(KEY, &facts, &body).await), Code::ObjectKeyConflict);
    assert_eq!(fs::read(store.root.join(KEY)).unwrap(), b"rival");
    // And with the part of another try in the way, nothing is written at all.
    fs::remove_file(store.root.join(KEY)).unwrap();
    assert_eq!(refusal(store.put(KEY, &facts, &body).await), Code::ObjectKeyConflict);
    assert_eq!(store.head(KEY, &facts).await, Seen::Nothing);
    assert_eq!(store.delete(KEY).await, Outcome::Done(Receipt::Dropped));
    assert!(files(&store.root).is_empty());
}

#[tokio::test]
async fn what_is_damaged_or_gone_is_lost() {
    let (_dir, store) = store();
    let (facts, body) = content(b"payload!");
    store.put(KEY, &facts, &body).await;
    let path = store.root.join(KEY);
    for damaged in [&b"payload?"[..], b"payload", b""] {
        fs::write(&path, damaged).unwrap();
        assert_eq!(store.head(KEY, &facts).await, Seen::Foreign);
        assert_eq!(store.get(KEY, &facts).await.unwrap_err().code, Code::ObjectLost);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(store.head(KEY, &facts).await, Seen::Foreign);
    fs::remove_dir(&path).unwrap();
    let why = store.get(KEY, &facts).await.unwrap_err();
    assert!(why.code == Code::ObjectLost && !why.transient && why.detail.contains(KEY));
}

#[tokio::test]
async fn keys_that_leave_the_root_are_refused() {
    let (dir, store) = store();
    fs::write(dir.path().join("outside"), b"x").unwrap();
    let (facts, body) = content(b"x");
    for key in ["../outside", "a/../../outside", "/etc/passwd", "", "a//b"] {
        assert_eq!(refusal(store.put(key, &facts, &body).await), Code::ObjectUploadFailed);
        assert_eq!(store.head(key, &facts).await, Seen::CannotTell);
        assert_eq!(store.get(key, &facts).await.unwrap_err().code, Code::ObjectLost);
        assert_eq!(refusal(store.delete(key).await), Code::CleanupFailed);
    }
    assert!(dir.path().join("outside").exists());
}

#[tokio::test]
async fn a_folder_that_cannot_hold_the_object_is_not_done() {
    let (_dir, store) = store();
    let (facts, body) = content(b"x");
    fs::write(store.root.join("orders"), b"a file where a folder must be").unwrap();
    assert_eq!(refusal(store.put(KEY, &facts, &body).await), Code::ObjectUploadFailed);
    let file = store.root.join("orders");
    assert_eq!(LocalObjects::open(&file).unwrap_err().code, Code::StorageNotWritable);
    let (lying, _) = content(b"xyz");
    assert_eq!(refusal(store.put("k", &lying, &body).await), Code::ObjectUploadFailed);
}

#[tokio::test]
async fn empty_folders_of_other_objects_stay() {
    let (_dir, store) = store();
    let (facts, body) = content(b"x");
    let neighbour = "orders/run-1/a1-00/r1.t1/c0.parquet";
    store.put(KEY, &facts, &body).await;
    store.put(neighbour, &facts, &body).await;
    store.delete(KEY).await;
    assert_eq!(files(&store.root), [neighbour]);
}

#[tokio::test]
async fn an_object_that_a_killed_process_left_is_durable_before_it_counts() {
    let (_dir, store) = store();
    let (facts, body) = content(b"some bytes");
    store.put(KEY, &facts, &body).await;
    let folder = store.root.join("orders/run-1/a1-00");
    watch::synced(&folder);
    assert_eq!((store.head(KEY, &facts).await, watch::synced(&folder)), (Seen::Ours, true));
    watch::fail(&folder, true);
    assert_eq!(store.head(KEY, &facts).await, Seen::CannotTell);
    assert!(!matches!(store.put(KEY, &facts, &body).await, Outcome::Done(_)));
}
