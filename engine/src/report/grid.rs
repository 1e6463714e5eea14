//! Tables of text cells, aligned for a terminal or as Markdown.

/// A table: headings and rows of as many cells.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Grid {
    /// A table with these headings; one that begins with `>` is of numbers, aligned to the right.
    pub fn new(head: &[&str]) -> Self {
        let right = head.iter().map(|h| h.starts_with('>')).collect();
        Self { head: head.iter().map(|h| h.trim_start_matches('>').to_owned()).collect(), rows: Vec::new(), right }
    }

    /// Adds a row; missing cells are empty, surplus ones are not shown.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().map(|c| one_line(&c)).collect();
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned columns, indented by two blanks.
    pub fn text(&self) -> String {
        let widths = self.widths(|cell| cell.chars().count());
        let mut out = String::new();
        for line in std::iter::once(&self.head).chain(&self.rows) {
            let cells = line.iter().enumerate().map(|(i, cell)| self.pad(cell, i, widths[i]));
            let text = cells.collect::<Vec<_>>().join("  ");
            out.push_str("  ");
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.head.clone());
        out.push_str(&line(self.right.iter().map(|right| if *right { "---:" } else { "---" }.to_owned()).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|")).collect()));
        }
        out
    }

    fn widths(&self, width: impl Fn(&str) -> usize) -> Vec<usize> {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        (0..self.head.len()).map(|i| lines().map(|line| width(&line[i])).max().unwrap_or(0)).collect()
    }

    fn pad(&self, cell: &str, column: usize, width: usize) -> String {
        if self.right[column] { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    }
}

/// Foreign text (column names, types) in one line and without control characters.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn columns_are_aligned_and_hostile_cells_stay_in_theirs() {
        let mut grid = Grid::new(&["name", ">rows"]);
        grid.row(["a|b".to_owned(), "12".to_owned()]);
        grid.row(["é\nx\u{1b}[31m".to_owned()]);
        assert_eq!(grid.text(), "  name      rows\n  a|b         12\n  é\u{fffd}x\u{fffd}[31m\n");
        assert_eq!(grid.markdown(), "| name | rows |\n| --- | ---: |\n| a\\|b | 12 |\n| é\u{fffd}x\u{fffd}[31m |  |\n");
    }
}
