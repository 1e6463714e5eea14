//! `dpone explain [CODE]`.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;
use dpone_engine::report::grid::Grid;
use serde_json::json;

use super::Answer;
use crate::args::Format;
use crate::exit;
use crate::output::Output;
use crate::wrap::flow;

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Codes and their sentences stand beside each other on a terminal of at least that many columns.
const BESIDE: usize = 120;

/// Prints a code's page, or every code with its sentence.
pub(crate) fn explain(code: Option<&str>, output: &Output) -> Answer {
    let Some(text) = code else { return Ok(list(output)) };
    let wanted = text.trim().trim_start_matches("error[").trim_end_matches([']', ':']);
    let Some(code) = Code::parse(wanted) else { return Err(vec![unknown(wanted)]) };
    let page = PAGES.iter().find(|(name, _)| *name == code.as_str()).map_or(code.summary(), |(_, page)| page);
    match output.format {
        Format::Json => {
            output.json(&json!({ "code": code, "class": code.class(), "summary": code.summary(), "page": page }));
        }
        Format::Text | Format::Md => match output.columns() {
            Some(columns) => output.exactly(&flow(page, columns)),
            None => output.exactly(page),
        },
    }
    Ok(exit::DELIVERED)
}

fn list(output: &Output) -> u8 {
    match output.format {
        Format::Json => {
            let codes: Vec<_> =
                Code::ALL.iter().map(|c| json!({ "code": c, "class": c.class(), "summary": c.summary() })).collect();
            output.json(&json!({ "codes": codes }));
        }
        Format::Md => {
            let mut grid = Grid::new(&["code", "meaning"]);
            for code in Code::ALL {
                grid.row([format!("`{code}`"), code.summary().to_owned()]);
            }
            output.result(&grid.markdown());
        }
        Format::Text if output.columns().is_some_and(|columns| columns < BESIDE) => {
            let lines: Vec<String> = Code::ALL.iter().map(|c| format!("{c}\n    {}", c.summary())).collect();
            output.result(&lines.join("\n"));
        }
        Format::Text => {
            let width = Code::ALL.iter().map(|c| c.as_str().len()).max().unwrap_or(0);
            let lines: Vec<String> =
                Code::ALL.iter().map(|c| format!("{:width$}  {}", c.as_str(), c.summary())).collect();
            output.result(&lines.join("\n"));
        }
    }
    exit::DELIVERED
}

fn unknown(text: &str) -> Refusal {
    let nearest = Code::ALL.iter().map(|c| c.as_str()).min_by_key(|c| strsim::levenshtein(c, text));
    let fix =
        nearest.map_or_else(String::new, |code| format!("Did you mean {code}? `dpone explain` lists every code."));
    Refusal::new(Code::UsageInvalid, format!("there is no code {text:?}")).fix(fix)
}
