//! The texts of the views that are read.

use std::collections::BTreeMap;

use super::facts::sys;
use super::query::is_word;
use super::{Ask, Row};
use crate::odbc::OdbcError;

/// Texts that are looked at.
const MOST: usize = 1000;

/// The definitions of every view whose name occurs in the text, of every table function and synonym that does, and of all
/// that occur in those. A name that occurs as something else only adds a text. What cannot be read is an empty text, which
/// counts as one with a window function.
pub(super) fn views_below(ask: &mut impl Ask, database: Option<&str>, sql: &str) -> Result<Vec<String>, OdbcError> {
    let views = format!(
        "SELECT o.name, m.definition FROM {} AS o LEFT JOIN {} AS m ON m.object_id = o.object_id \
         WHERE o.type IN ('V', 'IF', 'TF')",
        sys(database, "objects"),
        sys(database, "sql_modules")
    );
    let synonyms = format!("SELECT s.name, s.base_object_name FROM {} AS s", sys(database, "synonyms"));
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for statement in [views, synonyms] {
        for row in ask.ask(&statement)? {
            let (name, definition) = named(row);
            known.entry(name.to_lowercase()).or_default().push_str(&definition);
        }
    }
    let own = match database {
        Some(database) => database.to_lowercase(),
        None => one(ask.ask("SELECT DB_NAME()")?).to_lowercase(),
    };
    let databases = ask.ask("SELECT d.name FROM sys.databases AS d")?.into_iter();
    let databases = databases.map(|row| named(row).0.to_lowercase()).filter(|name| *name != own).collect();
    Ok(occurring(known, sql, &Around { own, databases }))
}

/// This database and the others of its server, by folded name.
struct Around {
    own: String,
    databases: Vec<String>,
}

fn named(row: Row) -> (String, String) {
    let mut cells = row.into_iter();
    let name = cells.next().flatten().unwrap_or_default();
    (name, cells.next().flatten().unwrap_or_default())
}

fn one(rows: Vec<Row>) -> String {
    rows.into_iter().flatten().next().flatten().unwrap_or_default()
}

/// The texts by name that occur in `sql`, and in each other.
fn occurring(mut known: BTreeMap<String, String>, sql: &str, around: &Around) -> Vec<String> {
    let mut found = Vec::new();
    let mut unread = vec![sql.to_owned()];
    while let Some(text) = unread.pop() {
        let folded = text.to_lowercase();
        if reads_elsewhere(&folded, around) {
            found.push(String::new());
        }
        let named: Vec<String> = known.keys().filter(|name| has_name(&folded, name)).cloned().collect();
        for name in named {
            let definition = known.remove(&name).unwrap_or_default();
            found.push(definition.clone());
            unread.push(definition);
        }
        if found.len() > MOST {
            return vec![String::new()];
        }
    }
    found
}

/// Whether the name stands in the text as a whole word, with its closing brackets doubled or not.
fn has_name(folded: &str, name: &str) -> bool {
    let escaped = name.replace(']', "]]");
    [name, escaped.as_str()].iter().any(|name| {
        folded.match_indices(*name).any(|(at, _)| {
            let (before, after) = (&folded.as_bytes()[..at], &folded.as_bytes()[at + name.len()..]);
            !before.last().is_some_and(|b| is_word(*b)) && !after.first().is_some_and(|b| is_word(*b))
        })
    })
}

/// Whether the text reads another database or another server, whose views are not looked at.
fn reads_elsewhere(folded: &str, around: &Around) -> bool {
    let remote = ["openquery", "openrowset", "opendatasource"];
    dotted(folded).iter().any(|parts| match parts.as_slice() {
        [one] => remote.contains(&one.as_str()),
        [database, _, _] => around.databases.contains(database),
        [first, _, _, _, ..] => *first != around.own,
        _ => false,
    })
}

/// Every name of the text, in its parts; a part that is left out (`a..b`) is empty.
fn dotted(text: &str) -> Vec<Vec<String>> {
    let (mut names, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let body = rest.get(1..).unwrap_or_default();
            rest = body.split_once('\'').map_or("", |(_, after)| after);
            continue;
        }
        let Some((part, after)) = name(rest) else {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        let mut parts = vec![part];
        rest = after;
        while let Some(after) = rest.trim_start().strip_prefix('.') {
            let (part, after) = name(after.trim_start()).unwrap_or((String::new(), after));
            parts.push(part);
            rest = after;
        }
        names.push(parts);
    }
    names
}

/// The name that begins here, and what follows it.
fn name(text: &str) -> Option<(String, &str)> {
    let close = match text.chars().next()? {
        '[' => ']',
        '"' => '"',
        _ => {
            let length = text.bytes().take_while(|b| is_word(*b)).count();
            return (length > 0).then(|| (text[..length].to_owned(), &text[length..]));
        }
    };
    let (mut name, mut rest) = (String::new(), text.get(1..)?);
    loop {
        let (part, after) = rest.split_once(close)?;
        name.push_str(part);
        match after.strip_prefix(close) {
            Some(after) => {
                name.push(close);
                rest = after;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_found_through_views_functions_and_synonyms() {
        let known = || {
            [
                ("v", "create view v as select * from dbo.[w]"),
                ("w", "create view w as select 1 a"),
                ("f", "text of f"),
                ("s", "[dbo].[v]"),
                ("far", "[other].[dbo].[v]"),
                ("x]y", "text of x]y"),
            ]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into()
        };
        let check = |sql: &str, expect: &[&str]| {
            let around = Around { own: "shop".into(), databases: vec!["other".into(), "my db".into()] };
            let mut found = occurring(known(), sql, &around);
            found.sort();
            let mut expect: Vec<&str> = expect.to_vec();
            expect.sort_unstable();
            assert_eq!(found, expect, "{sql}");
        };
        let (v, w) = ("create view v as select * from dbo.[w]", "create view w as select 1 a");
        check("select * from t", &[]);
        check("select * from V", &[v, w]);
        check("select * from dbo.[v]", &[v, w]);
        check("select * from view_v, v1, @v, vv", &[]);
        check("select * from s", &["[dbo].[v]", v, w]);
        check("select * from [x]]y] cross apply f(1)", &["text of x]y", "text of f"]);
        check("select * from far", &["[other].[dbo].[v]", "", v, w]);
        check("select * from shop.dbo.w", &[w]);
        check("select * from [other] . [dbo].[w]", &["", w]);
        check("select * from other..t", &[""]);
        check("select * from [my db].dbo.t", &[""]);
        check("select * from server.base.dbo.t", &[""]);
        check("select * from openquery(far1, 'select 1')", &[""]);
        check("select t.a, 1.5, dbo.t.a, t.g.STAsText(), 'a.b.c.d' from shop.dbo.t", &[]);
    }
}
