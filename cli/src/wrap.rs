//! Text for a terminal: lines that are too long are broken between words, so that it does not break them inside.

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// A paragraph of more columns than this is not read with ease.
const WIDEST: usize = 100;

/// Breaks lines of more than that many columns between words. What follows is indented as the line is, and beyond its label
/// if it begins with one (`  target      file:///…`). What is to be copied stays whole, however long: a word, a command, and
/// what stands between backticks. Tables, code and quoted lines of a manifest stay as they are.
pub(crate) fn wrap(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut code = false;
    for line in text.split_inclusive('\n') {
        let fence = line.starts_with("```");
        code ^= fence;
        let content = line.trim_end();
        if code || fence || display_width(content) <= columns || is_columnar(content) {
            out.push_str(line);
            continue;
        }
        // Beside a label that takes half the line there is no room for words.
        let hang = Some(hang(content)).filter(|hang| hang * 2 <= columns).unwrap_or_else(|| indent(content));
        let indent = " ".repeat(hang);
        let options = Options::new(columns)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_separator(WordSeparator::Custom(words))
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        out.push_str(&textwrap::wrap(content, options).join("\n"));
        out.push_str(&line[content.len()..]);
    }
    out
}

/// Markdown with each paragraph and each entry of a list in one line, broken at that many columns, or fewer if those are too
/// many to read; tables, headings and code as they are.
pub(crate) fn flow(markdown: &str, columns: usize) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut code = false;
    let mut open = false;
    for line in markdown.lines() {
        let fence = line.starts_with("```");
        code ^= fence;
        let listed = is_listed(line);
        let alone = code || fence || line.is_empty() || line.starts_with(['#', '|', '<']);
        let continues = open && !alone && !listed;
        if open {
            out.push(if continues { ' ' } else { '\n' });
        }
        out.push_str(if continues { line.trim_start() } else { line });
        open = !alone;
        if alone {
            out.push('\n');
        }
    }
    if open {
        out.push('\n');
    }
    wrap(&out, columns.min(WIDEST))
}

/// Whether a line of Markdown begins an entry of a list.
fn is_listed(line: &str) -> bool {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || numbered.len() < line.len() && numbered.starts_with(". ")
}

/// Whether a line is a table's row, or of a quoted manifest: broken, its parts would not stand below their like any more.
fn is_columnar(line: &str) -> bool {
    let rest = line.trim_start();
    let quoted = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    quoted.starts_with('|') || rest.split("  ").filter(|cell| !cell.trim().is_empty()).count() > 2
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where what follows a line's first part begins.
fn hang(line: &str) -> usize {
    let begin = indent(line);
    let rest = &line[begin..];
    match rest.split_once("  ") {
        Some((label, text)) => begin + display_width(label) + 2 + indent(text),
        // An error and its fix, coloured or not; an entry of a list.
        None if rest.starts_with(['\u{1b}', '-']) || rest.starts_with("error[") || rest.starts_with("fix:") => {
            begin + 2
        }
        None if is_listed(rest) => begin + 3,
        None => begin,
    }
}

/// What stays whole, each with the white space behind it. A label is not parted from what begins beside it.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut found = Vec::new();
    let text = line.trim_start().split_once("  ").map_or(line, |(_, text)| text).trim_start();
    let text = line.len() - text.len();
    let mut begin = 0;
    let mut quoted = false;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if before == ' ' && c != ' ' && !quoted {
            if is_command(&line[..at], &line[at..]) {
                break;
            }
            if at > text.max(begin) {
                found.push(Word::from(&line[begin..at]));
                begin = at;
            }
        }
        if c == '`' {
            quoted = !quoted && line[at + 1..].contains('`');
        }
        before = c;
    }
    found.push(Word::from(&line[begin..]));
    Box::new(found.into_iter())
}

/// Whether a command takes the rest of a line.
fn is_command(before: &str, rest: &str) -> bool {
    let label = before.trim_end().trim_end_matches("\u{1b}[0m");
    rest.starts_with("dpone ") && (before.ends_with("  ") || label.ends_with("next:") || label.ends_with("see:"))
}

#[cfg(test)]
mod tests {
    use super::{flow, wrap};

    #[test]
    fn lines_are_broken_between_words() {
        for (line, wrapped) in [
            ("short", "short"),
            ("", ""),
            ("one two three four five", "one two three four\nfive"),
            ("  one two three four five", "  one two three four\n  five"),
            ("- one two three four five", "- one two three four\n  five"),
            ("2. one two three four", "2. one two three\n   four"),
            ("  gates  one two three", "  gates  one two\n         three"),
            ("  a label  one two three", "  a label  one two\n  three"),
            ("error[x]: one two three", "error[x]: one two\n  three"),
            ("  fix: one two three four", "  fix: one two three\n    four"),
            // Wide characters take two columns, and colours none.
            ("数据数据 数据数据 数据", "数据数据 数据数据\n数据"),
            ("\u{1b}[1mone two\u{1b}[0m three four", "\u{1b}[1mone two\u{1b}[0m three four"),
            ("\u{1b}[1merror[x]\u{1b}[0m: one two three", "\u{1b}[1merror[x]\u{1b}[0m: one two\n  three"),
            // What is to be copied.
            ("  path  /a/path/that/is/longer/than/it", "  path  /a/path/that/is/longer/than/it"),
            ("give up with `dpone runs abandon x`, and", "give up with\n`dpone runs abandon x`,\nand"),
            ("  next: dpone run orders.yaml --resume", "  next: dpone run orders.yaml --resume"),
            ("an odd ` is none of them", "an odd ` is none of\nthem"),
            // What stands in columns.
            ("  r0       651   16.6 KiB       1", "  r0       651   16.6 KiB       1"),
            ("   11 | sink: {type: parquet, uri: ds}", "   11 | sink: {type: parquet, uri: ds}"),
            ("| a table of Markdown | is one |", "| a table of Markdown | is one |"),
        ] {
            assert_eq!(wrap(line, 20), wrapped);
        }
        assert_eq!(wrap("a\n\nb\n", 20), "a\n\nb\n");
    }

    #[test]
    fn paragraphs_flow_and_code_does_not() {
        let page = "# t\n\none\ntwo\n\n- a\n  b\n1. c\n\n```sh\nx y z x y z x y z\ny\n```\n| a |\n| b |\nend\n";
        let text = "# t\n\none two\n\n- a b\n1. c\n\n```sh\nx y z x y z x y z\ny\n```\n| a |\n| b |\nend\n";
        assert_eq!(flow(page, 12), text);
    }
}
