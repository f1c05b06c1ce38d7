//! `cargo xtask words`: first lines and commit subjects against `words.txt`.
//!
//! First lines of docstrings and doc comments.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The list of rejected words, below the repository.
const LIST: &str = "rust/xtask/words.txt";
/// Folders with sources.
const FOLDERS: [&str; 6] = ["python", "rust", "tests", "examples", "benches", "docs"];

/// The rejected words, with what to write instead.
#[derive(Default)]
struct Patterns {
    /// First words of a line.
    first: Vec<(String, String)>,
    /// Sequences of words anywhere in a line.
    any: Vec<(String, String)>,
    /// Most words of a first line, and what to write instead.
    most: Option<(usize, String)>,
    /// The commit after which subjects are checked.
    since: Option<String>,
}

/// Prints every first line and every commit subject that the list rejects.
pub fn check(root: &Path) -> ExitCode {
    let Ok(list) = std::fs::read_to_string(root.join(LIST)) else {
        println!("cannot read {LIST}");
        return ExitCode::FAILURE;
    };
    let patterns = Patterns::of(&list);
    let mut found = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let lines =
            if file.extension().is_some_and(|end| end == "rs") { doc_comments(&text) } else { docstrings(&text) };
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let wrong = |(number, line)| {
            let reason = patterns.reason(line).or_else(|| patterns.too_long(line))?;
            Some(format!("{name}:{number}: {line}\n    {reason}"))
        };
        found.extend(lines.into_iter().filter_map(wrong));
    }
    found.extend(subjects(root, patterns.since.as_deref()).iter().filter_map(|subject| patterns.of_subject(subject)));
    for line in &found {
        println!("{line}");
    }
    if found.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("{} lines use words of {LIST}", found.len());
    ExitCode::FAILURE
}

impl Patterns {
    /// Reads the list.
    fn of(list: &str) -> Self {
        let mut patterns = Self::default();
        for line in list.lines() {
            let (pattern, advice) = line.split_once(": ").unwrap_or((line, ""));
            match pattern.split_once(' ') {
                Some(("first", word)) => patterns.first.push((word.to_owned(), advice.to_owned())),
                Some(("any", words)) => patterns.any.push((format!(" {words} "), advice.to_owned())),
                Some(("most", words)) => patterns.most = words.parse().ok().map(|most| (most, advice.to_owned())),
                Some(("since", commit)) => patterns.since = Some(commit.to_owned()),
                _ => {}
            }
        }
        patterns
    }

    /// Returns why a line is rejected, with what to write instead.
    fn reason(&self, line: &str) -> Option<String> {
        let words =
            prose(line).to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_').collect::<Vec<_>>().join(" ");
        let starts = |word: &str| words.split(' ').next() == Some(word);
        let first = self.first.iter().find(|(word, _)| starts(word));
        if let Some((word, advice)) = first {
            return Some(format!("starts with \"{word}\"; write: {advice}"));
        }
        let padded = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
        let (words, advice) = self.any.iter().find(|(words, _)| padded.contains(words))?;
        Some(format!("has \"{}\"; write: {advice}", words.trim()))
    }

    /// Returns why a first line is rejected that has more words than the list allows.
    fn too_long(&self, line: &str) -> Option<String> {
        let is_word = |word: &&str| word.chars().any(|c| c.is_alphanumeric() || c == '_');
        let count = prose(line).split_whitespace().filter(is_word).count();
        let (most, advice) = self.most.as_ref().filter(|(most, _)| count > *most)?;
        Some(format!("has {count} words, at most {most} are allowed; {advice}"))
    }

    /// Returns why a subject "HASH subject" is rejected: its form, or a word.
    fn of_subject(&self, subject: &str) -> Option<String> {
        let (hash, text) = subject.split_once(' ')?;
        let formed = text.split_once(": ").is_some_and(|(system, change)| is_subsystem(system) && !change.is_empty());
        let reason = if formed { self.reason(text) } else { Some("the form is \"subsystem: change\"".to_owned()) };
        reason.map(|reason| format!("commit {hash}: {text}\n    {reason}"))
    }
}

/// Returns a line with each piece of code in backticks as one word.
fn prose(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("_")
}

/// Returns true for one to three words in lower case, such as "matmul" or "kernel cache".
fn is_subsystem(name: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./+".contains(c))
    };
    name.split(' ').count() <= 3 && name.split(' ').all(word)
}

/// Returns the Python and Rust files below a folder, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.') || name == "target");
        if path.is_symlink() || hidden {
            continue;
        }
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "py" || end == "pyi" || end == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the first line of every docstring, with its number: a string that is a statement.
fn docstrings(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut inside, mut before) = (false, "");
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        let opened = trimmed.strip_prefix('r').unwrap_or(trimmed).strip_prefix("\"\"\"");
        // A string after one of these is an argument or a part of a value.
        let statement = !before.ends_with(['(', ',', '[', '{', '=', '+', '\\']);
        if let Some(rest) = opened.filter(|_| !inside && statement) {
            found.push((number, rest.strip_suffix("\"\"\"").unwrap_or(rest)));
        }
        inside ^= line.matches("\"\"\"").count() % 2 == 1;
        if !trimmed.is_empty() && !inside {
            before = trimmed;
        }
    }
    found
}

/// Returns the first line of every module comment and of every doc comment of a public item, with its number.
fn doc_comments(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let before = if i == 0 { "" } else { lines[i - 1] };
        if let Some(rest) = line.strip_prefix("//! ").filter(|_| !before.starts_with("//!")) {
            found.push((i + 1, rest));
        }
        if let Some(rest) = line.strip_prefix("/// ").filter(|_| !before.starts_with("///")) {
            let item = lines[i..].iter().find(|line| !line.starts_with("///") && !line.starts_with("#["));
            if item.is_some_and(|item| item.starts_with("pub ")) {
                found.push((i + 1, rest));
            }
        }
    }
    found
}

/// Returns "HASH subject" of the commits after `since`; none without the history that has it.
fn subjects(root: &Path, since: Option<&str>) -> Vec<String> {
    let Some(since) = since else { return Vec::new() };
    let range = format!("{since}..HEAD");
    let output = Command::new("git")
        .args(["log", "--no-merges", "--format=%h %s", &range])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(output) = output else {
        println!("no history since {since}: commit subjects are not checked");
        return Vec::new();
    };
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns() -> Patterns {
        Patterns::of(
            "# comment\nfirst what: name the thing\nany behind: after\nany of nothing: empty\n\
             most 12: shorten\nsince abc\n",
        )
    }

    #[test]
    fn words_at_the_start_and_anywhere_are_rejected() {
        let patterns = patterns();
        assert_eq!(patterns.since.as_deref(), Some("abc"));
        for line in ["What a card has.", "The page behind it.", "Return a tensor of nothing."] {
            assert!(patterns.reason(line).is_some(), "{line}");
        }
        for line in ["The card.", "Return `behind`.", "A whatnot of nothingness.", ""] {
            assert_eq!(patterns.reason(line), None, "{line}");
        }
    }

    #[test]
    fn first_lines_have_a_limited_number_of_words() {
        let patterns = patterns();
        let twelve = "Return `a + b - c` of one - two, (3) four five six seven eight nine";
        assert_eq!(patterns.too_long(&format!("{twelve}.")), None);
        assert!(patterns.too_long(&format!("{twelve} ten.")).is_some_and(|reason| reason.contains("13 words")));
    }

    #[test]
    fn subjects_name_a_subsystem() {
        let patterns = patterns();
        for subject in [
            "1f Refuse it",
            "1f Matmul: add",
            "1f matmul: what is behind",
            "1f : x",
            "1f moreh, conv: add",
            "1f kernel API page: add",
            "1f docstrings of public names: shorter",
        ] {
            assert!(patterns.of_subject(subject).is_some(), "{subject}");
        }
        for subject in ["1f matmul: add", "1f c++ kernels: add", "1f kernel cache: hash What"] {
            assert_eq!(patterns.of_subject(subject), None, "{subject}");
        }
    }

    #[test]
    fn docstrings_are_strings_that_are_statements() {
        let text = "\"\"\"Module.\"\"\"\nx = 1\n\"\"\"Value.\"\"\"\ndef f():\n    r\"\"\"Function.\n\n    More.\n    \"\"\"\n\
                    call(\n    \"\"\"What\n\"\"\"What\n)\n";
        let expected = [(1, "Module."), (3, "Value."), (5, "Function.")];
        assert_eq!(docstrings(text), expected);
    }

    #[test]
    fn doc_comments_are_those_of_modules_and_public_items() {
        let text =
            "//! Module.\n//! More.\n\n/// Public.\n/// More.\n#[must_use]\npub fn f() {}\n/// Private.\nfn g() {}\n";
        assert_eq!(doc_comments(text), [(1, "Module."), (4, "Public.")]);
    }
}
