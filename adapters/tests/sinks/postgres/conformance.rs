//! The sink port's suite.

use dpone_adapters::body::Body;
use dpone_adapters::postgres_sink::PostgresSink;
use dpone_engine::conformance::{self, SinkWorld};
use dpone_engine::manifest::{Quality, StrategyMode};
use dpone_engine::run::effect::ChunkFacts;

use super::{World, object};

impl SinkWorld for World {
    type Sink = PostgresSink;
    type Body = Body;

    fn sink(&self) -> PostgresSink {
        let (not_null, unique) = (vec!["id".into()], vec!["id".into(), "note".into()]);
        self.sink_of(StrategyMode::FullRefresh, Quality { min_rows: 1, not_null, unique, ..Quality::default() })
    }

    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Body) {
        object((first..first + rows).map(|i| i as i64))
    }

    fn base(&self) -> String {
        self.base(StrategyMode::FullRefresh)
    }

    async fn rows(&self) -> u64 {
        match self.psql("select to_regclass('public.t') is not null").as_str() {
            "t" => self.psql("select count(*) from t").parse().unwrap(),
            _ => 0,
        }
    }
}

#[tokio::test]
async fn the_postgres_sink_conforms() {
    conformance::sink(World::new).await;
}
