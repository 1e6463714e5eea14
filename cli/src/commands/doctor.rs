//! `dpone doctor [MANIFEST]`.

use std::path::{Path, PathBuf};

use dpone_adapters::any::AnyRequest;
use dpone_adapters::odbc::{Registered, driver_library, registered_drivers};
use dpone_engine::manifest::{Consistency, SourceType};
use dpone_engine::plan::SourceFacts;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::grid::Grid;
use serde_json::{Value, json};

use super::Answer;
use crate::args::{Format, Global};
use crate::compose::{Loaded, load};
use crate::exit;
use crate::output::Output;

/// Says which ODBC drivers are there and, of a manifest, whether its source can be read and what its user needs for that.
pub(crate) fn doctor(global: &Global, manifest: Option<&Path>, output: &Output) -> Answer {
    let drivers: Vec<Driver> = registered_drivers().into_iter().map(Driver::of).collect();
    let source = match manifest {
        None => None,
        Some(path) => {
            let loaded = load(path, global.journal.as_deref())?;
            let found = AnyRequest::of(&loaded.manifest).map_err(|r| vec![r]).and_then(|request| request.describe());
            let found = found.map_err(|refusals| loaded.located(refusals));
            Some((loaded, found))
        }
    };
    match output.format {
        Format::Json => output.json(&document(&drivers, source.as_ref())),
        Format::Text => output.result(&text(&drivers, source.as_ref(), Grid::text)),
        Format::Md => output.result(&text(&drivers, source.as_ref(), Grid::markdown)),
    }
    match source {
        Some((_, Err(refusals))) => {
            // As one object on stdout they are told already.
            if output.format != Format::Json {
                output.refusals(&refusals);
            }
            Ok(refusals.first().map_or(exit::REFUSED, |first| exit::of_refusal(first.code)))
        }
        _ => Ok(exit::DELIVERED),
    }
}

/// A registered driver, and its library with its real name, which has the version.
struct Driver {
    name: String,
    stated: String,
    library: Option<PathBuf>,
}

impl Driver {
    fn of(registered: Registered) -> Self {
        let library = driver_library(&registered).map(|path| path.canonicalize().unwrap_or(path));
        Self { name: registered.name, stated: registered.library, library }
    }

    fn library(&self) -> String {
        self.library.as_ref().map_or_else(|| self.stated.clone(), |path| path.display().to_string())
    }
}

type Source = (Loaded, Result<SourceFacts, Vec<Refusal>>);

fn document(drivers: &[Driver], source: Option<&Source>) -> Value {
    let drivers: Vec<Value> =
        drivers.iter().map(|d| json!({"name": d.name, "library": d.library(), "found": d.library.is_some()})).collect();
    let source = source.map(|(loaded, found)| {
        let errors: Vec<Value> = found.as_ref().err().into_iter().flatten().map(error).collect();
        let columns = found.as_ref().ok().map(|facts| facts.schema.columns.len());
        let warnings = found.as_ref().map(|facts| facts.warnings.clone()).unwrap_or_default();
        json!({
            "manifest": loaded.manifest.name, "type": loaded.manifest.source.kind, "readable": found.is_ok(),
            "columns": columns, "errors": errors, "warnings": warnings, "privileges": privileges(loaded),
        })
    });
    json!({"odbc_drivers": drivers, "source": source})
}

fn error(refusal: &Refusal) -> Value {
    json!({"code": refusal.code, "message": refusal.message, "place": refusal.place, "fix": refusal.fix})
}

fn text(drivers: &[Driver], source: Option<&Source>, shown: fn(&Grid) -> String) -> String {
    let mut text = String::new();
    if drivers.is_empty() {
        text.push_str("No ODBC driver is registered in any odbcinst.ini.\n");
    } else {
        let mut grid = Grid::new(&["ODBC driver", "library", ""]);
        for driver in drivers {
            let state = if driver.library.is_some() { "there" } else { "missing: install its package again" };
            grid.row([driver.name.clone(), driver.library(), state.to_owned()]);
        }
        text.push_str(shown(&grid).trim_end());
        text.push('\n');
    }
    let Some((loaded, found)) = source else { return text };
    let (name, kind) = (&loaded.name, loaded.manifest.source.kind);
    match found {
        Ok(facts) => {
            let columns = facts.schema.columns.len();
            text.push_str(&format!("\nThe {kind} source of {name} can be read: {columns} columns, each exactly.\n"));
            for warning in &facts.warnings {
                text.push_str(&format!("  {warning}\n"));
            }
        }
        Err(_) => text.push_str(&format!("\nThe {kind} source of {name} cannot be read.\n")),
    }
    let needed = privileges(loaded);
    if !needed.is_empty() {
        text.push_str("\nIts user needs:\n");
        for privilege in needed {
            text.push_str(&format!("  {privilege}\n"));
        }
    }
    text
}

/// What the connection's user needs for the source and for the consistency that the manifest asks for.
fn privileges(loaded: &Loaded) -> Vec<&'static str> {
    let manifest = &loaded.manifest;
    let mut needed = match manifest.source.kind {
        SourceType::Sqlite | SourceType::Files | SourceType::Mongodb => return Vec::new(),
        SourceType::Mssql => vec!["CONNECT to the database, and SELECT on what is read"],
        SourceType::Postgres => vec!["CONNECT to the database, USAGE on the schema, and SELECT on what is read"],
        SourceType::Mysql | SourceType::Odbc => vec!["the right to connect, and SELECT on what is read"],
    };
    needed.extend(match (manifest.source.kind, manifest.ranges.consistency) {
        (SourceType::Mssql, Consistency::DatabaseSnapshot) => {
            Some("the right to connect to the snapshot and to its source, or VIEW ANY DATABASE and the first")
        }
        (SourceType::Mssql, Consistency::TemporalAsOf) => Some("SELECT on the history table"),
        (_, Consistency::WriteExclusion) => Some("what consistency_authority.query needs"),
        _ => None,
    });
    needed
}

#[cfg(test)]
mod tests {
    use dpone_engine::codes::Code;

    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_shown_as_it_is_stated() {
        let driver = Driver::of(Registered { name: "X".into(), library: "libnowhere.so".into() });
        assert!(driver.library.is_none());
        assert!(text(&[driver], None, Grid::text).contains("libnowhere.so  missing"));
        assert!(text(&[], None, Grid::text).contains("No ODBC driver"));
        assert_eq!(error(&Refusal::new(Code::OdbcDriverNotFound, "m"))["code"], "odbc_driver_not_found");
    }
}
