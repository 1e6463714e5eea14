//! The `parquet` sink beyond its port's conformance.

use std::fs;
use std::path::Path;

use arrow::array::AsArray as _;
use arrow::datatypes::Int64Type;
use dpone_adapters::parquet_sink::{ParquetSink, ParquetTarget};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, Quality, SinkType, StrategyMode};
use dpone_engine::plan::facts::Former;
use dpone_engine::ports::Sink as _;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen};
use dpone_engine::schema::{Column, LogicalType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use crate::given::{self, Run};

/// The newest manifest, as a reader finds it.
pub(crate) fn newest(root: &Path) -> Option<Value> {
    let names = fs::read_dir(root.join("_dpone")).ok()?.map(|e| e.unwrap().file_name().into_string().unwrap());
    let newest = names.filter(|n| n.starts_with("manifest-")).max()?;
    Some(serde_json::from_slice(&fs::read(root.join("_dpone").join(newest)).unwrap()).unwrap())
}

/// The ids of every row that a reader of the newest manifest sees, sorted.
pub(crate) fn rows(root: &Path) -> Vec<i64> {
    let Some(manifest) = newest(root) else { return Vec::new() };
    let mut ids = Vec::new();
    for file in manifest["files"].as_array().unwrap() {
        let bytes = fs::read(root.join(file["path"].as_str().unwrap())).unwrap();
        assert_eq!(bytes.len() as u64, file["bytes"].as_u64().unwrap());
        assert_eq!(
            dpone_adapters::digest::hex(&dpone_adapters::digest::sha256(&bytes)),
            file["sha256"].as_str().unwrap()
        );
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().build().unwrap();
        for batch in reader {
            ids.extend(batch.unwrap().column_by_name("id").unwrap().as_primitive::<Int64Type>().values());
        }
    }
    ids.sort_unstable();
    ids
}

/// The files below a folder, without the bookkeeping.
fn data_files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for folder in fs::read_dir(root).unwrap().map(|e| e.unwrap()) {
        if folder.file_name() != "_dpone" {
            let name = folder.file_name().into_string().unwrap();
            let files = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            found.extend(files.map(|f| format!("{name}/{f}")));
        }
    }
    found.sort();
    found
}

fn target(root: &Path, mode: StrategyMode) -> ParquetTarget {
    ParquetTarget::of(&given::sink(SinkType::Parquet, root, mode)).unwrap()
}

fn sink(root: &Path, mode: StrategyMode, quality: Quality) -> ParquetSink {
    ParquetSink::new(target(root, mode), given::schema(), quality, root.join("../work"), "fp")
}

fn base(root: &Path) -> String {
    target(root, StrategyMode::FullRefresh).describe(&given::schema()).unwrap().base
}

#[tokio::test]
async fn append_adds_and_full_refresh_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("d");
    let run = |name: &str, mode, first| {
        let (root, name) = (root.clone(), name.to_owned());
        async move {
            let sink = sink(&root, mode, Quality::default());
            Run::new(&name).deliver(&sink, &base(&root), vec![given::chunk(first, 2)]).await
        }
    };
    assert_eq!(run("r1", StrategyMode::Append, 0).await, Ok(("1/pub_r1_a1_00".to_owned(), 2)));
    assert_eq!(run("r2", StrategyMode::Append, 10).await, Ok(("2/pub_r2_a1_00".to_owned(), 2)));
    assert_eq!(rows(&root), [0, 1, 10, 11]);
    assert_eq!(run("r3", StrategyMode::FullRefresh, 20).await, Ok(("3/pub_r3_a1_00".to_owned(), 2)));
    assert_eq!(rows(&root), [20, 21]);
    let manifest = newest(&root).unwrap();
    let columns: Vec<&str> =
        manifest["schema"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    assert_eq!(columns[2..5], ["decimal(20,2)", "date", "timestamp(6, utc)"]);
    assert_eq!(
        (&manifest["run"], &manifest["base"], &manifest["rows"]),
        (&"r3".into(), &"2/pub_r2_a1_00".into(), &2.into())
    );

    let facts = target(&root, StrategyMode::FullRefresh).describe(&given::schema()).unwrap();
    let former = Former { identity: "2/pub_r2_a1_00".to_owned(), run: "r2".to_owned() };
    assert_eq!((facts.base.as_str(), facts.former), ("3/pub_r3_a1_00", Some(former)));

    // The former content is removed by its identity, and only what nobody lists any more.
    let sink = sink(&root, StrategyMode::FullRefresh, Quality::default());
    let drop = async |identity: &str| {
        let outcome = sink.drop_owned(OwnedKind::Superseded, identity).await;
        matches!(outcome, Outcome::Done(_))
    };
    assert!(drop("2/another").await && drop("9/none").await && drop("").await);
    assert_eq!(data_files(&root).len(), 3);
    assert!(!drop("3/pub_r3_a1_00").await, "the present content is never removed");
    assert!(drop("1/pub_r1_a1_00").await);
    assert_eq!(data_files(&root).len(), 3, "version 2 still lists the files of version 1");
    assert!(drop("2/pub_r2_a1_00").await && drop("2/pub_r2_a1_00").await);
    assert_eq!(data_files(&root), ["stg_r3_a1_00/part-r00000-c00000-00.parquet"]);
    assert_eq!(rows(&root), [20, 21]);
    assert!(matches!(sink.drop_owned(OwnedKind::Staging, "stg_r3_a1_00").await, Outcome::NotDone(_)));
    for name in ["../d", "_dpone", "a/b", ""] {
        assert!(matches!(sink.drop_owned(OwnedKind::Staging, name).await, Outcome::NotDone(_)), "{name}");
    }
}

#[tokio::test]
async fn preflight_creates_nothing_and_says_what_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("deep/d");
    let facts = target(&root, StrategyMode::FullRefresh).describe(&given::schema()).unwrap();
    assert!(!facts.exists && facts.base.is_empty() && facts.base_run.is_none() && facts.warnings.is_empty());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let codes = |mode, schema: &Schema| -> Vec<Code> {
        target(&root, mode).describe(schema).map_or_else(|r| r.iter().map(|r| r.code).collect(), |_| Vec::new())
    };
    assert_eq!(codes(StrategyMode::Merge, &given::schema()), [Code::StrategyUnsupported]);
    assert_eq!(codes(StrategyMode::PartitionReplace, &given::schema()), [Code::StrategyUnsupported]);

    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("someone's.parquet"), "").unwrap();
    assert_eq!(target(&root, StrategyMode::Append).describe(&given::schema()).unwrap().warnings.len(), 1);
    let sink = sink(&root, StrategyMode::Append, Quality::default());
    Run::new("r1").deliver(&sink, "", vec![given::chunk(0, 1)]).await.unwrap();
    let facts = target(&root, StrategyMode::Append).describe(&given::schema()).unwrap();
    assert_eq!((facts.exists, facts.base.as_str(), facts.base_run.as_deref()), (true, "1/pub_r1_a1_00", Some("r1")));
    assert_eq!(facts.former, None);

    let changed = |change: fn(&mut Vec<Column>)| {
        let mut schema = given::schema();
        change(&mut schema.columns);
        schema
    };
    for (change, code) in [
        (changed(|c| c.truncate(3)), Code::TargetColumnsMismatch),
        (changed(|c| c.swap(0, 1)), Code::TargetColumnsMismatch),
        (changed(|c| c[2].ty = LogicalType::Decimal { precision: 20, scale: 3 }), Code::TargetTypeNarrowerThanSource),
        (changed(|c| c[0].nullable = true), Code::NullableSourceIntoNonNullableTarget),
    ] {
        assert_eq!(codes(StrategyMode::Append, &change), [code]);
        assert!(codes(StrategyMode::FullRefresh, &change).is_empty());
    }
    assert!(codes(StrategyMode::Append, &changed(|c| c[1].nullable = false)).is_empty());

    // Rows are never added to a version whose rows are not all there.
    let listed = fs::read_to_string(root.join("_dpone/manifest-00000000000000000001.json")).unwrap();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let file = root.join(listed["files"][0]["path"].as_str().unwrap());
    let whole = fs::read(&file).unwrap();
    for (run, content) in [("r2", None), ("r3", Some(&whole[1..]))] {
        fs::remove_file(&file).unwrap();
        content.iter().for_each(|content| fs::write(&file, content).unwrap());
        assert_eq!(codes(StrategyMode::Append, &given::schema()), [Code::TargetNotReachable]);
        assert!(codes(StrategyMode::FullRefresh, &given::schema()).is_empty());
        let published = Run::new(run).deliver(&sink, "1/pub_r1_a1_00", vec![given::chunk(0, 1)]).await;
        assert_eq!(published.unwrap_err(), Code::PublicationFailed);
        fs::write(&file, &whole).unwrap();
    }
    assert!(codes(StrategyMode::Append, &given::schema()).is_empty());

    fs::write(root.join("_dpone/manifest-00000000000000000002.json"), "{").unwrap();
    assert_eq!(codes(StrategyMode::FullRefresh, &given::schema()), [Code::TargetNotReachable]);
}

#[tokio::test]
async fn gates_see_what_the_files_hold() {
    let ids = |ids: &[i64]| vec![given::object(&given::batch(ids))];
    let quality = |min_rows, not_null: &[&str], unique: &[&str]| Quality {
        min_rows,
        not_null: not_null.iter().map(ToString::to_string).collect(),
        unique: unique.iter().map(ToString::to_string).collect(),
        ..Quality::default()
    };
    for (quality, objects, expect) in [
        (quality(3, &["id"], &["id", "note", "amount"]), ids(&[1, 2, 3]), Ok(3)),
        (quality(4, &[], &[]), ids(&[1, 2, 3]), Err(Code::QualityMinRows)),
        (quality(0, &["flag"], &[]), ids(&[1, 7, 3]), Err(Code::QualityNotNull)),
        (quality(0, &[], &["id"]), ids(&[1, 2, 1]), Err(Code::QualityUnique)),
        (quality(0, &[], &["flag"]), ids(&[1, 3]), Err(Code::QualityUnique)),
        // NULL equals nothing.
        (quality(0, &[], &["note", "raw", "at"]), ids(&[0, 7, 14]), Ok(3)),
        (quality(0, &[], &["id"]), [ids(&[1, 2]), ids(&[3, 2])].concat(), Err(Code::QualityUnique)),
        (Quality { fidelity: Fidelity::Off, ..quality(0, &["id"], &["id"]) }, ids(&[5, 5]), Err(Code::QualityUnique)),
        (Quality { fidelity: Fidelity::Counts, ..quality(0, &[], &[]) }, ids(&[5, 5]), Ok(2)),
        (quality(0, &["id"], &["id"]), Vec::new(), Ok(0)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("d");
        let sink = sink(&root, StrategyMode::FullRefresh, quality.clone());
        let delivered = Run::new("r1").deliver(&sink, "", objects).await.map(|(_, rows)| rows);
        assert_eq!(delivered, expect, "{quality:?}");
        assert_eq!(rows(&root).len() as u64, expect.unwrap_or(0));
    }
}

#[tokio::test]
async fn what_was_changed_in_staging_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("d");
    let sink = sink(&root, StrategyMode::FullRefresh, Quality::default());
    let run = Run::new("r1");
    let Outcome::Done(staged) = run.staged(&sink, vec![given::chunk(1, 3)]).await else { panic!("not staged") };
    let profile = |outcome| match outcome {
        Outcome::Done(Receipt::Checked { units, .. }) => units[0].clone(),
        other => panic!("{other:?}"),
    };
    let before = profile(sink.check(&staged, 1 << 20).await);
    let file = root.join(&data_files(&root)[0]);
    let write = |ids: &[i64]| fs::write(&file, given::object(&given::batch(ids)).1.segments().concat()).unwrap();
    // Same number of rows, same extremes, another row.
    write(&[1, 3, 3]);
    let after = profile(sink.check(&staged, 1 << 20).await);
    assert_eq!((before.rows, before.columns.len()), (after.rows, 8));
    assert_ne!(before.checksum, after.checksum);
    write(&[1, 2]);
    let short = sink.check(&staged, 1 << 20).await;
    assert!(matches!(&short, Outcome::NotDone(w) if w.code == Code::LoadCountMismatch), "{short:?}");
    fs::write(&file, "PAR1 nothing PAR1").unwrap();
    let damaged = sink.check(&staged, 1 << 20).await;
    assert!(matches!(&damaged, Outcome::NotDone(w) if w.code == Code::LoadFailed), "{damaged:?}");
    let refused = sink.publish(&run.publication(staged, "")).await;
    assert!(matches!(&refused, Outcome::NotDone(w) if w.code == Code::PublicationFailed), "{refused:?}");
    assert!(newest(&root).is_none());
}

#[tokio::test]
async fn a_load_that_was_cut_off_is_no_load() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("d");
    let sink = sink(&root, StrategyMode::FullRefresh, Quality::default());
    let run = Run::new("r1");
    let Outcome::Done(staged) = run.staged(&sink, vec![given::chunk(0, 2), given::chunk(5, 2)]).await else { panic!() };
    let load = staged.units[0].load.clone();
    let effect = Effect::Load { unit: 0, staging: run.staging.clone(), load: load.clone() };
    let sees = || async { sink.probe(&run.claimant, &effect, None).await.seen };
    assert_eq!(sees().await, Seen::Ours);
    let folder = root.join("_dpone/loads").join(&load);
    let file = data_files(&root)[1].clone();
    let part = folder.join(format!("{}.part", file.rsplit('/').next().unwrap()));
    // Killed between the receipt and the second file's final name.
    fs::rename(root.join(&file), &part).unwrap();
    assert_eq!(sees().await, Seen::Nothing);
    fs::rename(&part, root.join(&file)).unwrap();
    assert_eq!(sees().await, Seen::Ours);
    // Killed while the receipt was written, or before.
    for receipt in [&b"{\"staging\""[..], b"", b"{\"staging\":\"..\",\"rows\":0,\"files\":[]}"] {
        fs::write(folder.join("receipt.json"), receipt).unwrap();
        assert_eq!(sees().await, Seen::Nothing);
    }
    fs::remove_file(folder.join("receipt.json")).unwrap();
    assert_eq!(sees().await, Seen::Nothing);
    for _ in 0..2 {
        assert!(matches!(sink.drop_owned(OwnedKind::Load, &load).await, Outcome::Done(_)));
        assert!(matches!(sink.drop_owned(OwnedKind::Staging, &run.staging).await, Outcome::Done(_)));
    }
    assert!(data_files(&root).is_empty() && !folder.exists());
}

#[tokio::test]
async fn something_else_under_the_next_versions_name_is_never_touched() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("d");
    let sink = sink(&root, StrategyMode::FullRefresh, Quality::default());
    let run = Run::new("r1");
    let Outcome::Done(staged) = run.staged(&sink, vec![given::chunk(0, 2)]).await else { panic!() };
    let order = run.publication(staged, "");
    let name = root.join("_dpone/manifest-00000000000000000001.json");
    fs::write(&name, "not a manifest").unwrap();
    let refused = sink.publish(&order).await;
    assert!(matches!(&refused, Outcome::NotDone(w) if w.code == Code::PublicationBaseChanged), "{refused:?}");
    let effect = Effect::Publish { publication: order.publication.clone() };
    assert_eq!(sink.probe(&run.claimant, &effect, Some(&order)).await.seen, Seen::Foreign);
    assert_eq!(fs::read_to_string(&name).unwrap(), "not a manifest");
}

#[tokio::test]
async fn a_version_without_rows_has_a_file_with_the_columns() {
    for mode in [StrategyMode::FullRefresh, StrategyMode::Append] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("d");
        // What a try that was killed can have left.
        let run = Run::new("r1");
        let sink = sink(&root, mode, Quality::default());
        let staged = run.staged(&sink, Vec::new()).await;
        let Outcome::Done(staged) = staged else { panic!("{staged:?}") };
        fs::write(root.join(&run.staging).join("part-empty.parquet.part"), b"PAR1").unwrap();
        fs::write(root.join(&run.staging).join("part-empty.parquet"), b"PAR1").unwrap();
        let published = sink.publish(&run.publication(staged, "")).await;
        assert!(matches!(published, Outcome::Done(Receipt::Published { rows: 0, .. })), "{published:?}");
        assert_eq!(rows(&root), [0; 0]);
        assert_eq!(data_files(&root), ["stg_r1_a1_00/part-empty.parquet"]);

        let file = fs::File::open(root.join("stg_r1_a1_00/part-empty.parquet")).unwrap();
        let columns = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
        let expected: Vec<String> = given::schema().columns.into_iter().map(|c| c.name).collect();
        assert_eq!(columns.fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>(), expected);
    }
}
