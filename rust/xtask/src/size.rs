//! `cargo xtask size`: lines per module, and uncommitted ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Files that are counted.
const SOURCES: [&str; 2] = ["*.rs", "*.py"];

/// Lines of a module, and lines added and removed since the last commit.
#[derive(Default)]
struct Lines {
    total: usize,
    added: usize,
    removed: usize,
}

/// Prints the table.
pub fn print(root: &Path) -> ExitCode {
    let mut modules: BTreeMap<String, Lines> = BTreeMap::new();
    for file in git(root, &["ls-files"]).lines() {
        let total = std::fs::read_to_string(root.join(file)).map_or(0, |text| text.lines().count());
        modules.entry(module_of(file)).or_default().total += total;
    }
    for row in git(root, &["diff", "--numstat", "HEAD"]).lines() {
        let mut cells = row.split('\t');
        let (Some(added), Some(removed), Some(file)) = (cells.next(), cells.next(), cells.next()) else { continue };
        let lines = modules.entry(module_of(file)).or_default();
        lines.added += added.parse().unwrap_or(0);
        lines.removed += removed.parse().unwrap_or(0);
    }
    println!("{:40} {:>7} {:>7} {:>7}", "module", "lines", "added", "removed");
    let mut sum = Lines::default();
    for (module, lines) in &modules {
        println!("{module:40} {:7} {:7} {:7}", lines.total, lines.added, lines.removed);
        sum = Lines {
            total: sum.total + lines.total,
            added: sum.added + lines.added,
            removed: sum.removed + lines.removed,
        };
    }
    println!("{:40} {:7} {:7} {:7}", "all", sum.total, sum.added, sum.removed);
    ExitCode::SUCCESS
}

/// A crate, a Python package, or a folder of tests: the folder of the file without `src` and below.
fn module_of(file: &str) -> String {
    let folder = Path::new(file).parent().map_or_else(String::new, |folder| folder.display().to_string());
    folder.split("/src").next().unwrap_or_default().to_owned()
}

/// Standard output of a git command on the counted files; empty if it fails.
fn git(root: &Path, arguments: &[&str]) -> String {
    Command::new("git")
        .args(arguments)
        .arg("--")
        .args(SOURCES)
        .current_dir(root)
        .output()
        .map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}
