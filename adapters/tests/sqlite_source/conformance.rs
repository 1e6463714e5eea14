//! The suite of the source port.

use dpone_adapters::sqlite_source::{SqliteSource, describe};
use dpone_engine::conformance::{self, SourceWorld};
use dpone_engine::manifest::Consistency;
use dpone_engine::ranges::{Bound, Scope, UnitRange};
use dpone_engine::run::UnitId;
use dpone_engine::value::Value;

use super::support::{Db, block_on, plan, with_key};

struct Origin {
    db: Db,
    consistency: Consistency,
}

impl SourceWorld for Origin {
    type Source = SqliteSource;

    fn source(&self) -> SqliteSource {
        let request = with_key(self.db.table("t"), "id");
        let five = || Value::Int(5);
        let scopes = [
            Scope::Interval { lower: Bound::Open, upper: Bound::Exclusive(five()) },
            Scope::Interval { lower: Bound::Inclusive(five()), upper: Bound::Open },
            Scope::Null,
        ];
        let units = (0..).zip(scopes).map(|(ordinal, scope)| UnitRange { ordinal, scope }).collect();
        let mut plan = plan(&request, &describe(&request).unwrap(), units);
        plan.consistency = self.consistency;
        SqliteSource::new(plan).unwrap()
    }

    fn rows(&self) -> u64 {
        self.db.connection().query_row("SELECT count(*) FROM t", [], |r| r.get(0)).unwrap()
    }

    fn empty(&self) -> UnitId {
        2
    }

    fn row_grant(&self) -> u64 {
        1 << 20
    }

    fn change(&self) -> bool {
        if self.consistency == Consistency::Immutable {
            return false;
        }
        let sql = "UPDATE t SET s = 'other' WHERE id = 2; INSERT INTO t VALUES (1, 'late'), (9, 'late')";
        self.db.connection().execute_batch(sql).unwrap();
        true
    }
}

#[test]
fn the_sqlite_source_conforms() {
    for consistency in [Consistency::ExportedSnapshot, Consistency::Immutable] {
        // In WAL mode, so that somebody can write under an open state.
        let db = || {
            Db::new(
                "pragma journal_mode = wal; create table t(id integer, s text);
                 insert into t values (1, 'a'), (2, 'b'), (3, NULL), (4, ''), (5, 'e'), (6, 'f'), (7, 'g'), (7, 'h');",
            )
        };
        block_on(conformance::source(|| Origin { db: db(), consistency }));
    }
}
