//! Arbitrary schemas and values, from SQLite through Parquet and back.

use dpone_adapters::sqlite_source::describe;
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::types::Value;

use super::support::{Db, plan, read_all, whole};

/// A column's declaration, and cells with what they must come out as.
#[derive(Clone, Debug)]
struct ColumnCase {
    declared: &'static str,
    cells: Vec<(Value, String)>,
}

const ROWS: usize = 40;

fn nullable(cell: impl Strategy<Value = (Value, String)>) -> impl Strategy<Value = (Value, String)> {
    prop_oneof![1 => Just((Value::Null, "NULL".to_owned())), 5 => cell]
}

fn column(declared: &'static str, cell: impl Strategy<Value = (Value, String)> + 'static) -> BoxedStrategy<ColumnCase> {
    vec(nullable(cell), ROWS).prop_map(move |cells| ColumnCase { declared, cells }).boxed()
}

fn any_column() -> impl Strategy<Value = ColumnCase> {
    let days = -719_162_i32..=2_932_896;
    prop_oneof![
        column("bigint", any::<i64>().prop_map(|v| (Value::Integer(v), v.to_string()))),
        column(
            "double",
            any::<f64>()
                .prop_filter("SQLite has no NaN and no -0.0", |v| !v.is_nan() && v.to_bits() != 1 << 63)
                .prop_map(|v| (Value::Real(v), format!("{v:?}")))
        ),
        column("text", ".{0,60}".prop_map(|v| (Value::Text(v.clone()), format!("{v:?}")))),
        column("blob", vec(any::<u8>(), 0..90).prop_map(|v| (Value::Blob(v.clone()), format!("{v:02x?}")))),
        column("boolean", any::<bool>().prop_map(|v| (Value::Integer(i64::from(v)), v.to_string()))),
        column(
            "date",
            days.prop_map(|v| {
                let value = dpone_engine::value::Value::Date(v);
                let text = dpone_engine::ranges::render_value(&dpone_engine::schema::LogicalType::Date, &value);
                (Value::Text(text), format!("day {v}"))
            })
        ),
        column(
            "timestamp",
            (-62_135_596_800_000_000_i64..253_402_300_800_000_000).prop_map(|v| {
                let ty = dpone_engine::schema::LogicalType::Timestamp { digits: 6, utc: false };
                let value = dpone_engine::value::Value::Ticks { ticks: i128::from(v), digits: 6 };
                (Value::Text(dpone_engine::ranges::render_value(&ty, &value)), format!("{v}us"))
            })
        ),
        column(
            "DECIMAL_TEXT(38,10)",
            any::<i64>().prop_map(|v| {
                let value = dpone_engine::value::Value::Decimal { unscaled: i128::from(v), scale: 10 };
                let ty = dpone_engine::schema::LogicalType::Decimal { precision: 38, scale: 10 };
                (Value::Text(dpone_engine::ranges::render_value(&ty, &value)), format!("{v}e-10"))
            })
        ),
        column(
            "decimal(15,3)",
            (-999_999_999_999_999_i64..=999_999_999_999_999).prop_map(|v| {
                let value = dpone_engine::value::Value::Decimal { unscaled: i128::from(v), scale: 3 };
                let ty = dpone_engine::schema::LogicalType::Decimal { precision: 15, scale: 3 };
                // SQLite turns this text into the nearest double or an integer.
                (Value::Text(dpone_engine::ranges::render_value(&ty, &value)), format!("{v}e-3"))
            })
        ),
        column("uuid", any::<[u8; 16]>().prop_map(|v| (Value::Blob(v.to_vec()), format!("{v:02x?}")))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cells_come_back_exactly(columns in vec(any_column(), 1..12), grant in 2_u64..40) {
        let declared: Vec<String> =
            columns.iter().enumerate().map(|(i, c)| format!("\"c {i}\" {}", c.declared)).collect();
        let db = Db::new(&format!("create table t({});", declared.join(", ")));
        let connection = db.connection();
        connection.execute_batch("begin").unwrap();
        let marks = vec!["?"; columns.len()].join(",");
        for row in 0..ROWS {
            let cells: Vec<&Value> = columns.iter().map(|c| &c.cells[row].0).collect();
            connection.execute(&format!("insert into t values ({marks})"), rusqlite::params_from_iter(cells)).unwrap();
        }
        connection.execute_batch("commit").unwrap();
        let request = db.table("t");
        let facts = describe(&request).unwrap();
        let reads = read_all(plan(&request, &facts, whole()), (grant << 18).max(facts.min_grant)).unwrap();
        for (row, found) in reads[0].rows.iter().enumerate() {
            let expect: Vec<&String> = columns.iter().map(|c| &c.cells[row].1).collect();
            prop_assert!(found.iter().eq(expect), "row {row}");
        }
        prop_assert_eq!(reads[0].rows.len(), ROWS);
    }
}
