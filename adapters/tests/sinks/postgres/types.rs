//! Every type there and back: what the server says it holds, and what the check reads of it.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow::datatypes::i256;
use dpone_adapters::postgres_sink::PostgresSink;
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, Quality, StrategyMode};
use dpone_engine::ports::Sink as _;
use dpone_engine::profile::{RowProfiler, UnitProfile};
use dpone_engine::run::{Outcome, Receipt};
use dpone_engine::schema::{Column, LogicalType, Schema};

use super::World;
use crate::given::{self, Run};

/// A cell as the profiler is shown it.
#[derive(Clone, Debug)]
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float32(f32),
    Float64(f64),
    Decimal(i128),
    WideDecimal(i256),
    Date(i32),
    Ticks(i64),
    Text(String),
    Binary(Vec<u8>),
    Uuid([u8; 16]),
}

/// A column, its cells, and what the server must say of each.
struct Given {
    ty: LogicalType,
    cells: Vec<Cell>,
    shown: Vec<&'static str>,
}

fn of(ty: LogicalType, cells: Vec<Cell>, shown: Vec<&'static str>) -> Given {
    assert_eq!((cells.len(), shown.len()), (ROWS - 1, ROWS - 1), "{ty}");
    Given { ty, cells: cells.into_iter().chain([Cell::Null]).collect(), shown: [shown, vec!["NULL"]].concat() }
}

const ROWS: usize = 4;

fn columns() -> Vec<Given> {
    use Cell::*;
    let int = |bits, least: i64, most: i64, shown: [&'static str; 2]| {
        of(LogicalType::Int { bits }, vec![Int(least), Int(most), Int(0)], vec![shown[0], shown[1], "0"])
    };
    let uint = |bits, most: u64, shown: &'static str| {
        of(LogicalType::UInt { bits }, vec![UInt(most), UInt(0), UInt(7)], vec![shown, "0", "7"])
    };
    let decimal = |precision, scale, most: i128, shown: [&'static str; 3]| {
        of(LogicalType::Decimal { precision, scale }, vec![Decimal(most), Decimal(-most), Decimal(0)], shown.to_vec())
    };
    let wide = |precision: u8, scale, shown: [&'static str; 3]| {
        let most = i256::from_string(&"9".repeat(precision.into())).unwrap();
        let cells = vec![WideDecimal(most), WideDecimal(-most), WideDecimal(i256::ZERO)];
        of(LogicalType::Decimal { precision, scale }, cells, shown.to_vec())
    };
    let micros = 1_000_000;
    let day = 86_400 * micros;
    let nan = f64::from_bits(0xfff8_0000_0000_0001);
    vec![
        of(LogicalType::Bool, vec![Bool(true), Bool(false), Bool(true)], vec!["true", "false", "true"]),
        int(8, -128, 127, ["-128", "127"]),
        int(16, i16::MIN.into(), i16::MAX.into(), ["-32768", "32767"]),
        int(32, i32::MIN.into(), i32::MAX.into(), ["-2147483648", "2147483647"]),
        int(64, i64::MIN, i64::MAX, ["-9223372036854775808", "9223372036854775807"]),
        uint(8, 255, "255"),
        uint(16, 65_535, "65535"),
        uint(32, u32::MAX.into(), "4294967295"),
        uint(64, u64::MAX, "18446744073709551615"),
        of(
            LogicalType::Float { bits: 32 },
            vec![Float32(-0.0), Float32(f32::NAN), Float32(1e-45)],
            vec!["-0", "NaN", "1e-45"],
        ),
        of(
            LogicalType::Float { bits: 64 },
            vec![Float64(-0.0), Float64(nan), Float64(f64::NEG_INFINITY)],
            vec!["-0", "NaN", "-Infinity"],
        ),
        decimal(1, 0, 9, ["9", "-9", "0"]),
        decimal(9, 4, 12_345, ["1.2345", "-1.2345", "0.0000"]),
        decimal(20, 3, 10_000_000_001, ["10000000.001", "-10000000.001", "0.000"]),
        decimal(
            38,
            38,
            10_i128.pow(38) - 1,
            [
                "0.99999999999999999999999999999999999999",
                "-0.99999999999999999999999999999999999999",
                "0.00000000000000000000000000000000000000",
            ],
        ),
        decimal(
            38,
            0,
            10_i128.pow(38) - 1,
            ["99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0"],
        ),
        wide(39, 0, ["999999999999999999999999999999999999999", "-999999999999999999999999999999999999999", "0"]),
        wide(
            76,
            10,
            [
                "999999999999999999999999999999999999999999999999999999999999999999.9999999999",
                "-999999999999999999999999999999999999999999999999999999999999999999.9999999999",
                "0.0000000000",
            ],
        ),
        wide(
            76,
            76,
            [
                "0.9999999999999999999999999999999999999999999999999999999999999999999999999999",
                "-0.9999999999999999999999999999999999999999999999999999999999999999999999999999",
                "0.0000000000000000000000000000000000000000000000000000000000000000000000000000",
            ],
        ),
        of(
            LogicalType::Date,
            vec![Date(-719_162), Date(2_932_896), Date(-1)],
            vec!["0001-01-01", "9999-12-31", "1969-12-31"],
        ),
        of(
            LogicalType::Time { digits: 6 },
            vec![Ticks(0), Ticks(day - 1), Ticks(micros)],
            vec!["00:00:00", "23:59:59.999999", "00:00:01"],
        ),
        of(
            LogicalType::Time { digits: 3 },
            vec![Ticks(1), Ticks(86_399_999), Ticks(0)],
            vec!["00:00:00.001", "23:59:59.999", "00:00:00"],
        ),
        of(
            LogicalType::Timestamp { digits: 6, utc: false },
            vec![Ticks(-1), Ticks(-719_162 * day), Ticks(2_932_897 * day - 1)],
            vec!["1969-12-31 23:59:59.999999", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"],
        ),
        of(
            LogicalType::Timestamp { digits: 0, utc: true },
            vec![Ticks(0), Ticks(-1), Ticks(951_782_400)],
            vec!["1970-01-01 00:00:00+00", "1969-12-31 23:59:59+00", "2000-02-29 00:00:00+00"],
        ),
        of(
            LogicalType::Text,
            vec![Text(String::new()), Text("\\N".to_owned()), Text("a\tb\\c\r\nö\u{1f600}\u{1}".to_owned())],
            vec!["", "\\N", "a\tb\\c\r\nö\u{1f600}\u{1}"],
        ),
        of(
            LogicalType::Binary,
            vec![Binary(vec![]), Binary(vec![0, 9, 10, 92, 255]), Binary(b"\\x".to_vec())],
            vec!["\\x", "\\x00090a5cff", "\\x5c78"],
        ),
        of(
            LogicalType::Uuid,
            vec![Uuid([0; 16]), Uuid([0xff; 16]), Uuid(*b"0123456789abcdef")],
            vec![
                "00000000-0000-0000-0000-000000000000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
                "30313233-3435-3637-3839-616263646566",
            ],
        ),
    ]
}

fn schema(columns: &[Given]) -> Schema {
    let column = |(at, given): (usize, &Given)| Column {
        name: format!("Column {at} \"quoted\""),
        nullable: true,
        declared: given.ty.to_string(),
        ty: given.ty.clone(),
    };
    Schema { columns: columns.iter().enumerate().map(column).collect() }
}

macro_rules! some {
    ($cells:expr, $($variant:ident)|+, $v:ident => $value:expr) => {
        $cells.iter().map(|cell| match cell {
            $(Cell::$variant($v) => Some($value),)+
            _ => None,
        })
    };
}

fn array(given: &Given) -> ArrayRef {
    let cells = &given.cells;
    match given.ty {
        LogicalType::Bool => Arc::new(some!(cells, Bool, v => *v).collect::<BooleanArray>()),
        LogicalType::Int { bits: 8 } => Arc::new(some!(cells, Int, v => *v as i8).collect::<Int8Array>()),
        LogicalType::Int { bits: 16 } => Arc::new(some!(cells, Int, v => *v as i16).collect::<Int16Array>()),
        LogicalType::Int { bits: 32 } => Arc::new(some!(cells, Int, v => *v as i32).collect::<Int32Array>()),
        LogicalType::Int { .. } => Arc::new(some!(cells, Int, v => *v).collect::<Int64Array>()),
        LogicalType::UInt { bits: 8 } => Arc::new(some!(cells, UInt, v => *v as u8).collect::<UInt8Array>()),
        LogicalType::UInt { bits: 16 } => Arc::new(some!(cells, UInt, v => *v as u16).collect::<UInt16Array>()),
        LogicalType::UInt { bits: 32 } => Arc::new(some!(cells, UInt, v => *v as u32).collect::<UInt32Array>()),
        LogicalType::UInt { .. } => Arc::new(some!(cells, UInt, v => *v).collect::<UInt64Array>()),
        LogicalType::Float { bits: 32 } => Arc::new(some!(cells, Float32, v => *v).collect::<Float32Array>()),
        LogicalType::Float { .. } => Arc::new(some!(cells, Float64, v => *v).collect::<Float64Array>()),
        LogicalType::Decimal { precision: precision @ 39.., scale } => {
            let values = some!(cells, WideDecimal, v => *v).collect::<Decimal256Array>();
            Arc::new(values.with_precision_and_scale(precision, scale as i8).unwrap())
        }
        LogicalType::Decimal { precision, scale } => {
            let values = some!(cells, Decimal, v => *v).collect::<Decimal128Array>();
            Arc::new(values.with_precision_and_scale(precision, scale as i8).unwrap())
        }
        LogicalType::Date => Arc::new(some!(cells, Date, v => *v).collect::<Date32Array>()),
        LogicalType::Time { digits } => {
            let per = 10_i64.pow(6 - u32::from(digits));
            Arc::new(some!(cells, Ticks, v => *v * per).collect::<Time64MicrosecondArray>())
        }
        LogicalType::Timestamp { digits, utc } => {
            let per = 10_i64.pow(6 - u32::from(digits));
            let values = some!(cells, Ticks, v => *v * per).collect::<TimestampMicrosecondArray>();
            if utc { Arc::new(values.with_timezone("UTC")) } else { Arc::new(values) }
        }
        LogicalType::Text => Arc::new(some!(cells, Text, v => v.clone()).collect::<StringArray>()),
        LogicalType::Binary => Arc::new(some!(cells, Binary, v => v.as_slice()).collect::<BinaryArray>()),
        LogicalType::Uuid => {
            let values = some!(cells, Uuid, v => v.to_vec());
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 16).unwrap())
        }
    }
}

fn profile(columns: &[Given], schema: &Schema, level: Fidelity) -> UnitProfile {
    let mut profiler = RowProfiler::new(schema, level);
    for row in 0..columns[0].cells.len() {
        for given in columns {
            match &given.cells[row] {
                Cell::Null => profiler.null(),
                Cell::Bool(v) => profiler.bool(*v),
                Cell::Int(v) => profiler.int(*v),
                Cell::UInt(v) => profiler.uint(*v),
                Cell::Float32(v) => profiler.float32(*v),
                Cell::Float64(v) => profiler.float64(*v),
                Cell::Decimal(v) => profiler.decimal(*v),
                Cell::WideDecimal(v) => profiler.wide_decimal(&v.to_le_bytes()),
                Cell::Date(v) => profiler.date(*v),
                Cell::Ticks(v) => profiler.ticks(*v),
                Cell::Text(v) => profiler.text(v),
                Cell::Binary(v) => profiler.binary(v),
                Cell::Uuid(v) => profiler.uuid(v),
            }
        }
        profiler.end_row();
    }
    profiler.finish().unwrap()
}

fn batch(columns: &[Given], schema: &Schema) -> RecordBatch {
    let named = schema.columns.iter().zip(columns).map(|(column, given)| (&column.name, array(given), true));
    RecordBatch::try_from_iter_with_nullable(named).unwrap()
}

#[tokio::test]
async fn every_type_is_stored_and_read_back_exactly() {
    let columns = columns();
    let schema = schema(&columns);
    let object = || given::object(&batch(&columns, &schema));
    for level in [Fidelity::Rows, Fidelity::Columns, Fidelity::Counts] {
        let world = World::new();
        let target = world.target(StrategyMode::FullRefresh);
        let sink = PostgresSink::new(target, schema.clone(), Quality { fidelity: level, ..Quality::default() });
        let run = Run::new("run1");
        let Outcome::Done(staged) = run.staged(&sink, vec![object()]).await else { panic!("not staged") };
        let checked = sink.check(&staged, 64 << 20).await;
        let Outcome::Done(Receipt::Checked { units, .. }) = checked else { panic!("{checked:?}") };
        assert_eq!(units, [profile(&columns, &schema, level)], "{level}");
        let published = sink.publish(&run.publication(staged, "")).await;
        assert!(matches!(published, Outcome::Done(Receipt::Published { rows: 4, .. })), "{published:?}");
        for (column, given) in schema.columns.iter().zip(&columns) {
            let name = column.name.replace('"', "\"\"");
            for (row, shown) in given.shown.iter().enumerate() {
                let sql = format!(
                    "set timezone = 'UTC'; select coalesce(\"{name}\"::text, 'NULL') from t limit 1 offset {row}"
                );
                assert_eq!(world.psql(&sql), shown.trim_end(), "{}", given.ty);
            }
        }
        // The table that a publication made is one that the next run publishes into.
        assert!(world.target(StrategyMode::Append).describe(&schema).is_ok());
    }
}

#[tokio::test]
async fn what_needs_more_than_its_grant_is_not_read() {
    let text =
        |bytes: usize| Given { ty: LogicalType::Text, cells: vec![Cell::Text("\t".repeat(bytes))], shown: vec![] };
    let columns = [text(3 << 20), text(10)];
    let schema = schema(&columns);
    let world = World::new();
    let sink = PostgresSink::new(world.target(StrategyMode::FullRefresh), schema.clone(), Quality::default());
    let run = Run::new("run1");
    let Outcome::Done(staged) = run.staged(&sink, vec![given::object(&batch(&columns, &schema))]).await else {
        panic!("not staged")
    };
    let refused = sink.check(&staged, 16 << 20).await;
    assert!(matches!(&refused, Outcome::NotDone(why) if why.code == Code::BudgetTooSmall), "{refused:?}");
    let checked = sink.check(&staged, 32 << 20).await;
    let Outcome::Done(Receipt::Checked { units, .. }) = checked else { panic!("{checked:?}") };
    assert_eq!(units, [profile(&columns, &schema, Fidelity::Rows)]);
}
