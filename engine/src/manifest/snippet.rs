//! The line of a manifest with a place marked.
//!
//! Invariant: shows only what is known to be harmless. Ranges must be declared visible; everything else but
//! punctuation becomes `…`, so a credential or a source value next to the place is never shown.

use std::ops::Range;

use super::node::Place;

/// Greatest number of characters of the line that are shown.
const WIDTH: usize = 100;

/// Characters that show how a line is built and never what it holds.
const PUNCTUATION: &[char] = &['[', ']', '{', '}', ',', ':', '-', '"', '\'', '?', '|', '>', '&', '*', '#'];

/// Renders the line of `place`. `visible` holds byte ranges of the text, in any order.
pub(super) fn render(text: &str, place: &Place, visible: &[Range<usize>]) -> Option<String> {
    let start = line_start(text, place.line)?;
    let line = text.get(start..)?.lines().next()?;
    let mark_from = place.column.saturating_sub(1);
    let mark_len = text.get(place.bytes.clone()).and_then(|t| t.lines().next()).map_or(0, |t| t.chars().count()).max(1);

    // Long lines are cut around the place before anything is looked at.
    let cut_from = if line.chars().nth(WIDTH).is_some() { mark_from.saturating_sub(WIDTH / 2) } else { 0 };
    let part: Vec<(usize, char)> = line.char_indices().skip(cut_from).take(WIDTH).collect();
    let first = start + part.first().map_or(line.len(), |(offset, _)| *offset);
    let last = start + part.last().map_or(line.len(), |(offset, _)| *offset);
    let visible: Vec<_> = visible.iter().filter(|range| range.start <= last && range.end > first).collect();

    let mut shown: Vec<char> = Vec::new();
    let mut marks: Option<(usize, usize)> = None;
    let mut comment = false;
    for (index, (offset, c)) in part.into_iter().enumerate() {
        let (at, column) = (start + offset, cut_from + index);
        let known = visible.iter().any(|range| range.contains(&at));
        let c = if known {
            if c.is_control() { '�' } else { c }
        } else if c == '\t' || c == ' ' {
            if comment { '…' } else { ' ' }
        } else if PUNCTUATION.contains(&c) && !comment {
            comment = c == '#';
            c
        } else {
            '…'
        };
        if !(c == '…' && shown.last() == Some(&'…')) {
            shown.push(c);
        }
        if column >= mark_from && column < mark_from.saturating_add(mark_len) {
            let here = shown.len().saturating_sub(1);
            marks = Some(marks.map_or((here, here), |(from, _)| (from, here)));
        }
    }
    // A place at the end of the line (something is missing there).
    let (from, to) = marks.unwrap_or((shown.len(), shown.len()));

    let cut: String = shown.into_iter().collect();
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let arrows = "^".repeat(to.saturating_sub(from) + 1);
    Some(format!("{gutter} |\n{number} | {}\n{gutter} | {}{arrows}", cut.trim_end(), " ".repeat(from)))
}

/// The places on one line where a known key stands, for a text that could not be read as a tree.
pub(super) fn known_keys(text: &str, line: usize, is_key: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let Some(start) = line_start(text, line) else { return Vec::new() };
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(':')
        .filter_map(|(colon, _)| {
            let name = line[..colon].rsplit(|c| !word(c)).next().filter(|name| !name.is_empty() && is_key(name))?;
            Some(start + colon - name.len()..start + colon)
        })
        .collect()
}

/// The byte at which a line starts; lines are counted from 1 and end as YAML ends them.
fn line_start(text: &str, line: usize) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    Some(start)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn check(text: &str, line: usize, marked: &str, visible: &[&str], expected: &str) {
        let at = text.find(marked).unwrap();
        let start = line_start(text, line).unwrap();
        let column = text[start..at].chars().count() + 1;
        let visible: Vec<_> = visible.iter().map(|v| text.find(v).map(|s| s..s + v.len()).unwrap()).collect();
        let place = Place { line, column, bytes: at..at + marked.len() };
        assert_eq!(render(text, &place, &visible).unwrap(), expected);
    }

    #[test]
    fn only_declared_ranges_are_shown() {
        check(
            "a: 1\nconnection: {host: h, password: hunter2 x, prot: 1} # old: hunter1\n",
            2,
            "prot",
            &["connection", "host", "prot"],
            "  |\n2 | connection: {host: …, …: … …, prot: …} #…\n  |                               ^^^^",
        );
        check("é: 'ü'\n", 1, "'ü'", &["é", "ü"], "  |\n1 | é: 'ü'\n  |    ^^^");
        check("k: \u{1b}[31m\n", 1, "\u{1b}[31m", &["k", "\u{1b}[31m"], "  |\n1 | k: �[31m\n  |    ^^^^^");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("k: {}x\n", "a".repeat(500));
        let place = Place { line: 1, column: 504, bytes: 503..504 };
        let shown = render(&text, &place, std::slice::from_ref(&(0..text.len()))).unwrap();
        assert!(shown.lines().all(|l| l.chars().count() < 110), "{shown}");
        assert!(shown.contains("ax\n"), "{shown}");
    }
}
