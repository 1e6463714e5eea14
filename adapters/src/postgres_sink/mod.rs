//! The `postgres` sink: staging tables, a ledger and a claim in the target's own schema, and one transaction that
//! publishes.
//!
//! Every step has a session and a transaction of its own, and nothing is sent twice. A connection that is lost before the
//! commit was asked for has changed nothing; one that is lost at the commit leaves a question, and the answer is in the
//! ledger: whatever is about to commit holds the lock of the run's claim, which every probe waits for.

mod binary;
mod books;
mod catalog;
mod check;
mod claim;
mod ddl;
mod holds;
mod line;
mod load;
mod numeric;
mod preflight;
mod probe;
mod profile;
mod publish;
mod session;
mod text;

use std::sync::Arc;

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Quality, Sink as SinkManifest, StrategyMode};
use dpone_engine::plan::TargetFacts;
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sighting, Sink, Staged};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Effect, Outcome, Receipt, Seen, UnitId, Why};
use dpone_engine::schema::Schema;

use crate::body::Body;
use crate::postgres::{Config, quote_literal};
use ddl::{NAME_BYTES, Place};
use session::{Step, run, transact};

/// Where rows go: a table of a database, and how.
#[derive(Clone, Debug)]
pub struct PostgresTarget {
    config: Arc<Config>,
    place: Place,
    mode: StrategyMode,
    key: Vec<String>,
}

impl PostgresTarget {
    /// The target of a manifest; `get` looks environment variables up.
    ///
    /// # Errors
    /// `manifest_invalid_value` if the table's name is missing or cannot be one; `connection_settings_invalid` and
    /// `option_conflict` as [`Config::from_env`].
    pub fn of(sink: &SinkManifest, get: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let invalid =
            |text: String, place: &str, fix: &str| Refusal::new(Code::ManifestInvalidValue, text).at(place).fix(fix);
        let table = sink.table.as_ref().ok_or_else(|| {
            invalid("a postgres sink needs a table".to_owned(), "sink.table", "Add `table: {name: …}`.")
        })?;
        if table.database.is_some() {
            let text = "a postgres sink is in the database of its connection".to_owned();
            return Err(invalid(text, "sink.table.database", "Name the database in the connection."));
        }
        let schema = table.schema.as_deref().unwrap_or("public");
        for (name, place) in [(schema, "sink.table.schema"), (table.name.as_str(), "sink.table.name")] {
            if name.is_empty() || name.len() > NAME_BYTES || name.contains('\0') {
                let text = format!("{name:?} is not a name of 1 to {NAME_BYTES} bytes");
                return Err(invalid(text, place, "Choose a name that PostgreSQL does not cut."));
            }
        }
        if schema == "information_schema" || schema.starts_with("pg_") {
            let text = format!("the schema {schema:?} is the server's own");
            return Err(invalid(text, "sink.table.schema", "Choose another schema."));
        }
        if table.name.starts_with("__dpone_") {
            let text = format!("table names like {:?} are reserved", table.name);
            return Err(invalid(text, "sink.table.name", "Choose another name."));
        }
        let config = match &sink.connection {
            Connection::Reference { connection_id, .. } => Config::from_env(connection_id, get)?,
            Connection::Settings(settings) => Config::from_manifest(settings, get)?,
            Connection::Path(_) | Connection::Uri(_) => {
                let text = "a postgres sink is reached by a connection".to_owned();
                return Err(invalid(text, "sink", "Add `connection_id` or `connection`."));
            }
        };
        let place = Place { schema: schema.to_owned(), table: table.name.clone() };
        let strategy = &sink.strategy;
        Ok(Self { config: Arc::new(config), place, mode: strategy.mode, key: strategy.key.clone() })
    }

    /// The target as the operator knows it.
    fn identity(&self) -> String {
        self.config.table_identity(&self.place.schema, &self.place.table)
    }

    fn merge_key(&self) -> &[String] {
        if self.mode == StrategyMode::Merge { &self.key } else { &[] }
    }

    fn partition_key(&self) -> &[String] {
        if self.mode == StrategyMode::PartitionReplace { &self.key } else { &[] }
    }

    /// The runner that has claimed the table. Creates nothing.
    ///
    /// # Errors
    /// `target_not_reachable` if that cannot be read.
    pub fn claimed(&self) -> Result<Option<Claimant>, Refusal> {
        preflight::claimed(self).map_err(|why| preflight::says(&why))
    }

    /// Gives the claim back for that run, which can then not go on.
    pub fn release(&self, claimant: &Claimant) -> Outcome {
        transact(&self.config, Code::CleanupFailed, |session| claim::release(session, &self.place, claimant))
    }

    /// What the target is now. Creates nothing.
    ///
    /// # Errors
    /// Every reason why what is read cannot be published there exactly.
    pub fn describe(&self, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
        preflight::describe(self, schema)
    }
}

/// The sink of one run.
#[derive(Clone, Debug)]
pub struct PostgresSink {
    target: PostgresTarget,
    schema: Schema,
    quality: Quality,
}

impl PostgresSink {
    /// A sink for rows of that schema.
    pub fn new(target: PostgresTarget, schema: Schema, quality: Quality) -> Self {
        Self { target, schema, quality }
    }

    fn config(&self) -> &Config {
        &self.target.config
    }

    fn place(&self) -> &Place {
        &self.target.place
    }

    /// Does something in a transaction, on a thread that may block.
    async fn effect(
        &self,
        doubt: Code,
        work: impl FnOnce(&Self, &mut crate::postgres::Session) -> Step<Receipt> + Send + 'static,
    ) -> Outcome {
        let this = self.clone();
        let done = blocking(move || transact(this.config(), doubt, |session| work(&this, session)));
        done.await.unwrap_or_else(Outcome::Unknown)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Step<T> {
    let lost = |_| Why::fatal(Code::InternalError, "a step of the postgres sink panicked");
    tokio::task::spawn_blocking(work).await.map_err(lost)
}

impl Sink for PostgresSink {
    type Body = Body;

    async fn claim(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        self.effect(Code::TargetNotReachable, move |s, session| claim::take(session, s.place(), &claimant)).await
    }

    async fn stage(&self, claimant: &Claimant, staging: &str, _unit: Option<UnitId>) -> Outcome {
        let (claimant, staging) = (claimant.clone(), staging.to_owned());
        self.effect(Code::TargetNotReachable, move |s, session| {
            claim::held(session, s.place(), &claimant, claim::Lock::Shared)?;
            if staging.len() > NAME_BYTES || catalog::relation(session, s.place(), &staging)?.is_some() {
                let detail = format!("there is a table {staging:?} already, or its name is too long");
                return Err(Why::fatal(Code::StagingNameConflict, detail));
            }
            // Logged: a crash of the server would empty another kind without a word.
            run(session, &format!("{} USING heap", ddl::create(&s.place().beside(&staging), &s.schema, &[])))?;
            Ok(Receipt::Staged)
        })
        .await
    }

    async fn load(&self, order: &LoadOrder, feed: &mut impl Feed<Body = Body>) -> Outcome {
        let (this, begin) = (self.clone(), order.clone());
        let begun = blocking(move || load::Loading::begin(this.config(), this.place(), &this.schema, &begin));
        let mut loading = match begun.await.and_then(|r| r) {
            Ok(loading) => loading,
            Err(why) => return Outcome::NotDone(why),
        };
        while let Some(object) = feed.next().await {
            let body = match object {
                Ok((_, body)) => body,
                Err(why) => return Outcome::NotDone(why),
            };
            let granted = feed.granted();
            let added = blocking(move || loading.object(&body, granted).map(|()| loading)).await.and_then(|r| r);
            loading = match added {
                Ok(loading) => loading,
                Err(why) => return Outcome::NotDone(why),
            };
        }
        let (this, order) = (self.clone(), order.clone());
        blocking(move || loading.finish(this.place(), &order)).await.unwrap_or_else(Outcome::Unknown)
    }

    async fn check(&self, staged: &Staged, grant: u64) -> Outcome {
        let (this, staged) = (self.clone(), staged.clone());
        let checked = blocking(move || {
            let (place, schema, quality) = (this.place(), &this.schema, &this.quality);
            let merge_key = this.target.merge_key();
            check::check(this.config(), &check::Checks { place, schema, quality, merge_key, staged: &staged, grant })
        });
        checked.await.and_then(|r| r).map_or_else(Outcome::NotDone, Outcome::Done)
    }

    async fn publish(&self, order: &PublishOrder) -> Outcome {
        let (order, this) = (order.clone(), self.clone());
        let published = blocking(move || {
            let target = &this.target;
            let change = publish::Change {
                place: &target.place,
                schema: &this.schema,
                mode: target.mode,
                key: target.merge_key(),
                partition_key: target.partition_key(),
            };
            publish::publish(this.config(), &change, &order)
        });
        published
            .await
            .unwrap_or_else(|why| Outcome::Unknown(Why::transient(Code::PublicationOutcomeUnknown, why.detail)))
    }

    async fn fence(&self, claimant: &Claimant, order: &PublishOrder) -> Outcome {
        let (claimant, publication) = (claimant.clone(), order.publication.clone());
        self.effect(Code::TargetNotReachable, move |s, session| {
            publish::fence(session, s.place(), &claimant, &publication)
        })
        .await
    }

    async fn probe(&self, claimant: &Claimant, effect: &Effect, order: Option<&PublishOrder>) -> Sighting {
        let (this, claimant, effect, order) = (self.clone(), claimant.clone(), effect.clone(), order.cloned());
        let seen =
            blocking(move || probe::probe(this.config(), this.place(), &claimant, &effect, order.as_ref())).await;
        seen.and_then(|r| r).unwrap_or(Sighting::of(Seen::CannotTell))
    }

    async fn drop_owned(&self, kind: OwnedKind, name: &str) -> Outcome {
        let name = name.to_owned();
        self.effect(Code::TargetNotReachable, move |s, session| {
            match kind {
                OwnedKind::Staging => {
                    run(session, &format!("DROP TABLE IF EXISTS {}", s.place().beside(&name)))?;
                }
                OwnedKind::Load if claim::has_books(session, s.place())? => {
                    let (loads, name) = (s.place().loads(), quote_literal(&name));
                    run(session, &format!("DELETE FROM {loads} WHERE load = {name}"))?;
                }
                // Objects are the store's, and former content is not kept beside the new.
                OwnedKind::Load | OwnedKind::Object | OwnedKind::Superseded => {}
            }
            Ok(Receipt::Dropped)
        })
        .await
    }

    async fn release(&self, claimant: &Claimant) -> Outcome {
        let claimant = claimant.clone();
        self.effect(Code::TargetNotReachable, move |s, session| claim::release(session, s.place(), &claimant)).await
    }
}
