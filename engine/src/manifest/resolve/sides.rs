//! Source and sink.

use std::collections::{BTreeMap, BTreeSet};

use super::super::check::shown;
use super::super::connection::{Connection, ConnectionSettings, ConnectionType};
use super::super::document::{SinkDocument, SourceDocument};
use super::super::problems::Problems;
use super::super::sink::{Sink, SinkType, StrategyMode};
use super::super::source::{Relation, Source, SourceType};
use super::unique;
use crate::codes::Code;

pub(super) fn source(given: &SourceDocument, problems: &mut Problems<'_>) -> Option<Source> {
    let kind = given.kind;
    let only_path = kind == SourceType::Sqlite;
    if let Some(columns) = &given.options.columns {
        unique(columns, "source.options.columns", problems);
        let delivered: BTreeSet<&String> = columns.iter().collect();
        if let Some(name) = given.options.types.keys().find(|name| !delivered.contains(name)) {
            problems.add(
                "source.options.types",
                Code::OptionConflict,
                format!("`source.options.types` names a column that `columns` leaves out: `{}`", shown(name)),
                "Add it to `columns`, or remove its type.",
            );
        }
    }
    let relation = match (&given.table, &given.query) {
        (Some(table), None) => Some(Relation::Table(table.clone())),
        (None, Some(query)) if query.trim().is_empty() => {
            problems.add(
                "source.query",
                Code::ManifestInvalidValue,
                "`source.query` is empty",
                "Write one SELECT, or use `table`.",
            );
            None
        }
        (None, Some(query)) => Some(Relation::Query(query.clone())),
        (Some(_), Some(_)) => {
            problems.add(
                "source.query",
                Code::OptionConflict,
                "`source` has both `table` and `query`",
                "Keep one of them.",
            );
            None
        }
        (None, None) => {
            problems.add(
                "source",
                Code::ManifestInvalidValue,
                "`source` has neither `table` nor `query`",
                "Add `table: {name: …}` or `query: …`.",
            );
            None
        }
    };
    let side = Side {
        at: "source",
        kind: kind.as_str(),
        address: given.path.as_ref().map(|path| ("path", Connection::Path(path.clone()))),
        wants_address: only_path.then_some("path"),
        id: given.connection_id.as_ref(),
        id_type: given.connection_type,
        settings: given.connection.as_ref(),
    };
    let connection = side.connection(problems);
    let types = given.options.types.iter().map(|(name, ty)| (name.clone(), ty.0.clone())).collect();
    let text_forms: BTreeMap<_, _> =
        given.options.types.iter().filter_map(|(name, ty)| Some((name.clone(), ty.1?))).collect();
    if kind != SourceType::Postgres
        && let Some((name, form)) = text_forms.iter().next()
    {
        problems.add(
            "source.options.types",
            Code::OptionConflict,
            format!("a source of type `{kind}` has no text form `{form}` for column `{}`", shown(name)),
            "State a type without a form, such as `text`.",
        );
    }
    let columns = given.options.columns.clone();
    Some(Source { kind, connection: connection?, relation: relation?, columns, types, text_forms })
}

pub(super) fn sink(given: &SinkDocument, problems: &mut Problems<'_>) -> Option<Sink> {
    let kind = given.kind;
    let wants_address = match kind {
        SinkType::Sqlite => Some("path"),
        SinkType::Parquet => Some("uri"),
        SinkType::Clickhouse | SinkType::Postgres => None,
    };
    let address = match (&given.path, &given.uri) {
        (Some(path), None) => Some(("path", Connection::Path(path.clone()))),
        (None, Some(uri)) => Some(("uri", Connection::Uri(uri.clone()))),
        (None, None) => None,
        (Some(_), Some(_)) => {
            problems.add("sink.uri", Code::OptionConflict, "`sink` has both `path` and `uri`", "Keep one of them.");
            None
        }
    };
    let side = Side {
        at: "sink",
        kind: kind.as_str(),
        address,
        wants_address,
        id: given.connection_id.as_ref(),
        id_type: given.connection_type,
        settings: given.connection.as_ref(),
    };
    let connection = side.connection(problems);
    match (kind, &given.table) {
        (SinkType::Parquet, Some(_)) => {
            problems.add(
                "sink.table",
                Code::OptionConflict,
                "a `parquet` sink is a dataset, not a table",
                "Remove `table`; the dataset is `uri`.",
            );
        }
        (SinkType::Parquet, None) | (_, Some(_)) => {}
        (_, None) => {
            problems.add("sink.table", Code::ManifestInvalidValue, "`sink.table` is missing", "Add `table: {name: …}`.")
        }
    }
    unique(&given.strategy.key, "sink.strategy.key", problems);
    let needs = match given.strategy.mode {
        StrategyMode::Merge => {
            Some(("`mode: merge` needs the columns that identify a row", "Add `key: [id]` with those columns."))
        }
        StrategyMode::PartitionReplace => Some((
            "`mode: partition_replace` needs the columns that make a partition",
            "Add `key: [day]` with those columns.",
        )),
        StrategyMode::FullRefresh | StrategyMode::Append => None,
    };
    if let Some((text, fix)) = needs.filter(|_| given.strategy.key.is_empty()) {
        problems.add("sink.strategy", Code::StrategyKeyMissing, text, fix);
    }
    Some(Sink { kind, connection: connection?, table: given.table.clone(), strategy: given.strategy.clone() })
}

/// One side's ways to say how it is reached; exactly one may be used.
struct Side<'d> {
    at: &'static str,
    kind: &'static str,
    address: Option<(&'static str, Connection)>,
    /// The address key that this kind is reached by, when it is not reached by a connection.
    wants_address: Option<&'static str>,
    id: Option<&'d String>,
    id_type: Option<ConnectionType>,
    settings: Option<&'d ConnectionSettings>,
}

impl Side<'_> {
    fn connection(self, problems: &mut Problems<'_>) -> Option<Connection> {
        let Self { at, kind, .. } = self;
        if self.id_type.is_some() && self.id.is_none() {
            problems.add(
                &format!("{at}.connection_type"),
                Code::OptionConflict,
                "`connection_type` says where a `connection_id` is looked up, and there is none",
                "Add `connection_id`, or remove `connection_type`.",
            );
        }
        let mut given = Vec::new();
        if let Some((key, connection)) = self.address {
            given.push((key, connection));
        }
        if let Some(id) = self.id {
            let connection =
                Connection::Reference { connection_id: id.clone(), connection_type: self.id_type.unwrap_or_default() };
            given.push(("connection_id", connection));
        }
        if let Some(settings) = self.settings {
            given.push(("connection", Connection::Settings(settings.clone())));
        }
        // A dataset in an object store is an address whose credentials come by reference; its uri is the address.
        if given.len() == 2 && given[0].0 == "uri" && given[1].0 == "connection_id" {
            problems.add(
                &format!("{at}.connection_id"),
                Code::RouteUnsupported,
                "this build reaches datasets without credentials only",
                "Use a `file:///…` address and remove `connection_id`.",
            );
            return None;
        }
        let wanted = self.wants_address.unwrap_or("connection_id");
        let mut given = given.into_iter();
        match (given.next(), given.next()) {
            (None, _) => {
                problems.add(
                    &format!("{at}.{wanted}"),
                    Code::ManifestInvalidValue,
                    format!("`{at}` of type `{kind}` does not say how it is reached"),
                    format!("Add `{wanted}`."),
                );
                None
            }
            (Some((first, _)), Some((second, _))) => {
                problems.add(
                    &format!("{at}.{second}"),
                    Code::OptionConflict,
                    format!("`{at}` is reached by `{first}` and by `{second}`"),
                    "Keep one of them.",
                );
                None
            }
            (Some((key, connection)), None) => {
                let fits = match self.wants_address {
                    Some(address) => key == address,
                    None => key != "path" && key != "uri",
                };
                if !fits {
                    problems.add(
                        &format!("{at}.{key}"),
                        Code::OptionConflict,
                        format!("`{at}` of type `{kind}` is not reached by `{key}`"),
                        format!("Use `{wanted}` instead."),
                    );
                    return None;
                }
                Some(connection)
            }
        }
    }
}
