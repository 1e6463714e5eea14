//! The sink port's suite.

use dpone_adapters::body::Body;
use dpone_adapters::postgres_sink::PostgresSink;
use dpone_engine::conformance::{self, SinkWorld};
use dpone_engine::manifest::{Quality, StrategyMode};
use dpone_engine::run::effect::ChunkFacts;

use super::{World, object};

/// A world whose target is published to in that way.
struct Suite {
    world: World,
    mode: StrategyMode,
}

impl SinkWorld for Suite {
    type Sink = PostgresSink;
    type Body = Body;

    fn sink(&self) -> PostgresSink {
        let (not_null, unique) = (vec!["id".into()], vec!["id".into(), "note".into()]);
        self.world.sink_of(self.mode, Quality { min_rows: 1, not_null, unique, ..Quality::default() })
    }

    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Body) {
        // Every run brings both partitions, and none of NULL: where partitions are replaced, all rows are.
        object((first..first + rows).map(|i| i as i64 + 1))
    }

    fn base(&self) -> String {
        self.world.base(self.mode)
    }

    async fn rows(&self) -> u64 {
        match self.world.psql("select to_regclass('public.t') is not null").as_str() {
            "t" => self.world.psql("select count(*) from t").parse().unwrap(),
            _ => 0,
        }
    }
}

#[tokio::test]
async fn the_postgres_sink_conforms() {
    for mode in [StrategyMode::FullRefresh, StrategyMode::PartitionReplace] {
        conformance::sink(|| Suite { world: World::new(), mode }).await;
    }
}
