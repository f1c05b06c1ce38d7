//! Allowed dependencies between crates and modules.
//!
//! Crates: each has a list of those below it. Modules of a crate: no circle over what they name by `use`, `crate::` or
//! `super::`. A name that a module re-exports counts for the module that defines it. A module may name its own
//! descendants, of which it is made; that is no arrow. A descendant that names its ancestor is one. Tests are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every crate of the engine and what it may depend on.
const BELOW: &[(&str, &[&str])] = &[
    ("tt-formats", &[]),
    ("tt-cpu", &["tt-formats"]),
    ("tt-tensix", &["tt-formats", "tt-cpu"]),
    ("tt-fpu", &["tt-formats", "tt-cpu", "tt-tensix"]),
    ("tt-sfpu", &["tt-formats", "tt-cpu", "tt-tensix"]),
    ("tt-fast", &["tt-formats", "tt-cpu", "tt-tensix", "tt-fpu"]),
    ("tt-memory", &["tt-formats", "tt-cpu"]),
    ("tt-noc", &["tt-formats", "tt-memory"]),
    ("tt-perf", &["tt-formats"]),
    ("tt-plan", &["tt-formats", "tt-memory", "tt-noc", "tt-perf"]),
    ("tt-pjrt", &[]),
    ("tt-riscv", &["tt-perf"]),
    (
        "tt-program",
        &["tt-formats", "tt-cpu", "tt-tensix", "tt-fpu", "tt-sfpu", "tt-memory", "tt-noc", "tt-perf", "tt-riscv"],
    ),
    (
        "tt-ops",
        &[
            "tt-formats",
            "tt-cpu",
            "tt-tensix",
            "tt-fpu",
            "tt-sfpu",
            "tt-fast",
            "tt-memory",
            "tt-noc",
            "tt-perf",
            "tt-program",
        ],
    ),
    (
        "tt-python",
        &[
            "tt-formats",
            "tt-cpu",
            "tt-tensix",
            "tt-fpu",
            "tt-sfpu",
            "tt-memory",
            "tt-noc",
            "tt-perf",
            "tt-pjrt",
            "tt-plan",
            "tt-program",
            "tt-ops",
            "tt-riscv",
        ],
    ),
];

/// Modules whose structures of a C interface hold pointers to the objects of modules above them.
const POINTS_UP: &[(&str, &str)] = &[("tt-pjrt", "abi")];

/// A module by the names on the way to it from the crate's root.
type Module = Vec<String>;

/// A module's names of others: a path, the name it is bound to if it is a `use`.
type Names = Vec<(Vec<String>, Option<String>)>;

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn crates_name_only_crates_below_them() {
    let known: BTreeMap<&str, &[&str]> = BELOW.iter().copied().collect();
    let mut wrong = Vec::new();
    for folder in fs::read_dir(engine()).expect("the crates").flatten() {
        let name = folder.file_name().into_string().expect("a name");
        let Ok(manifest) = fs::read_to_string(folder.path().join("Cargo.toml")) else { continue };
        let Some(below) = known.get(name.as_str()) else {
            assert!(!name.starts_with("tt-") || name == "tt-testkit", "{name} has no place in this test");
            continue;
        };
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
        let others = dependencies.lines().filter_map(|line| line.strip_suffix(".workspace = true"));
        wrong.extend(others.filter(|other| other.starts_with("tt-") && !below.contains(other)).map(|other| {
            let below = below.join(", ");
            format!("{name} depends on {other}; it may depend on: {below}")
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_name_each_other_in_no_circle() {
    let mut circles = Vec::new();
    for (name, _) in BELOW {
        let mut modules = BTreeMap::new();
        read(&engine().join(name).join("src"), &mut Vec::new(), &mut modules);
        let mut arrows = arrows(&modules);
        arrows.retain(|module, _| !POINTS_UP.contains(&(name, &module.join("::"))));
        circles.extend(circle(&arrows).map(|circle| {
            let steps: Vec<String> = circle.iter().map(|module| format!("{name}::{}", module.join("::"))).collect();
            steps.join(" -> ")
        }));
    }
    assert!(circles.is_empty(), "modules that name each other:\n{}", circles.join("\n"));
}

#[test]
fn a_circle_is_found_and_descendants_are_none() {
    let source = |text: &str| names(&tokens(text), &[]);
    let mut modules = BTreeMap::new();
    for (module, text) in [
        (vec![], "mod a; mod b;"),
        (vec!["a"], "mod inner; use inner::Item; pub struct Thing; /* use crate::b; */"),
        (vec!["a", "inner"], "use super::Thing; pub struct Item;"),
        (vec!["b"], "use crate::a::Item; #[cfg(test)] mod tests { use crate::c::Other; }"),
        (vec!["c"], "fn go() { crate::b::run(\"crate::a\") }"),
    ] {
        for (inline, names) in source(text) {
            let path: Module = module.iter().map(|&name| name.to_owned()).chain(inline).collect();
            modules.insert(path, names);
        }
    }
    assert_eq!(circle(&arrows(&modules)), None);
    modules.insert(vec!["a".into(), "inner".into()], source("use crate::c::{self, Other as This};").remove(0).1);
    let found = circle(&arrows(&modules)).expect("a circle");
    assert_eq!(found.iter().map(|module| module.join("::")).collect::<Vec<_>>(), ["a::inner", "c", "b", "a::inner"]);
}

/// Reads the modules of a folder.
fn read(folder: &Path, module: &mut Module, modules: &mut BTreeMap<Module, Names>) {
    for entry in fs::read_dir(folder).expect("sources").flatten() {
        let path = entry.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if stem.ends_with("tests") {
            continue;
        }
        let root = matches!(stem.as_str(), "lib" | "main" | "mod");
        if !root {
            module.push(stem);
        }
        if path.is_dir() {
            read(&path, module, modules);
        } else {
            let text = fs::read_to_string(&path).expect("a source");
            for (inline, names) in names(&tokens(&text), &[]) {
                let path: Module = module.iter().cloned().chain(inline).collect();
                modules.entry(path).or_default().extend(names);
            }
        }
        if !root {
            module.pop();
        }
    }
}

/// Words and signs of a source, without comments and what is in quotes.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|letter| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if first == '\'' {
            // A letter, or a lifetime.
            let mut letters = rest[1..].char_indices().skip(if rest[1..].starts_with('\\') { 2 } else { 1 });
            letters.find(|&(at, letter)| letter == '\'' && at < 12).map_or(1, |(at, _)| {
                let plain = at == rest[1..].chars().next().map_or(0, char::len_utf8);
                if plain || rest[1..].starts_with('\\') { at + 2 } else { 1 }
            })
        } else if word > 0 {
            tokens.push(rest[..word].to_owned());
            word
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// What the modules of a source name: its own first, then those that are written in it.
fn names(tokens: &[String], inline: &[String]) -> Vec<(Module, Names)> {
    let mut all = vec![(inline.to_vec(), Names::new())];
    let at = |place: usize| tokens.get(place).map_or("", String::as_str);
    let mut place = 0;
    while place < tokens.len() {
        if at(place) == "#"
            && tokens[place..].iter().take(7).map(String::as_str).eq(["#", "[", "cfg", "(", "test", ")", "]"])
        {
            // The item that follows.
            place += 7;
            let end = (place..tokens.len()).find(|&end| matches!(at(end), ";" | "{")).unwrap_or(place);
            place = if at(end) == "{" { closing(tokens, end) + 1 } else { end + 1 };
        } else if at(place) == "mod" && (at(place + 2) == "{" || at(place + 1) == "$" && at(place + 3) == "{") {
            let open = if at(place + 2) == "{" { place + 2 } else { place + 3 };
            let end = closing(tokens, open);
            let path: Module = inline.iter().cloned().chain([at(open - 1).to_owned()]).collect();
            all.extend(names(&tokens[open + 1..end], &path));
            place = end + 1;
        } else if at(place) == "use" {
            let end = (place..tokens.len()).find(|&end| at(end) == ";").unwrap_or(tokens.len());
            tree(&tokens[place + 1..end], &[], &mut all[0].1);
            place = end + 1;
        } else if matches!(at(place), "crate" | "super") && at(place + 1) == "::" {
            let mut path = vec![at(place).to_owned()];
            while at(place + 1) == "::" && at(place + 2).starts_with(|letter: char| letter.is_alphabetic()) {
                path.push(at(place + 2).to_owned());
                place += 2;
            }
            all[0].1.push((path, None));
            place += 1;
        } else {
            place += 1;
        }
    }
    all
}

/// The bracket that closes the one at a place.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    tokens.len()
}

/// The paths of a `use`.
fn tree(tokens: &[String], before: &[String], names: &mut Names) {
    let mut depth = 0;
    let parts = tokens.split(|token| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        token == "," && depth == 0
    });
    for part in parts.filter(|part| !part.is_empty()) {
        let words: Vec<String> = part
            .iter()
            .take_while(|token| *token != "{")
            .filter(|token| *token != "::" && *token != "$")
            .cloned()
            .collect();
        if let Some(open) = part.iter().position(|token| token == "{") {
            tree(&part[open + 1..closing(part, open)], &[before, &words].concat(), names);
            continue;
        }
        let (path, alias) = match words.as_slice() {
            [path @ .., keyword, alias] if keyword == "as" => (path, Some(alias)),
            path => (path, path.last()),
        };
        let mut path = [before, path].concat();
        let mut bound = alias.cloned();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
            bound = bound.filter(|alias| alias != "self").or_else(|| path.last().cloned());
        }
        names.push((path, bound));
    }
}

/// Which module names which.
fn arrows(modules: &BTreeMap<Module, Names>) -> BTreeMap<Module, BTreeSet<Module>> {
    let arrow = |(from, names): (&Module, &Names)| {
        let targets = names.iter().filter_map(|(path, _)| defines(modules, from, path, 0));
        (from.clone(), targets.filter(|target| !target.starts_with(from)).collect())
    };
    modules.iter().map(arrow).collect()
}

/// The module that defines what a path in `from` names; `None` for other crates.
fn defines(modules: &BTreeMap<Module, Names>, from: &Module, path: &[String], depth: usize) -> Option<Module> {
    if depth > 16 {
        return None;
    }
    let mut rest = path;
    let mut module = from.clone();
    match rest.first()?.as_str() {
        "crate" => {
            (module, rest) = (Vec::new(), &rest[1..]);
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|word| word == "super") {
                module.pop();
                rest = &rest[1..];
            }
        }
        child => {
            let here = [module.as_slice(), &[child.to_owned()]].concat();
            let bound = modules[from].iter().any(|(path, name)| name.as_deref() == Some(child) && path.len() > 1);
            if !modules.contains_key(&here) && !bound {
                return None;
            }
        }
    }
    while let Some(word) = rest.first() {
        let child = [module.as_slice(), std::slice::from_ref(word)].concat();
        if modules.contains_key(&child) {
            (module, rest) = (child, &rest[1..]);
            continue;
        }
        let names = modules.get(&module)?;
        let own = |bound: &&(Vec<String>, Option<String>)| bound.1.as_ref() == Some(word) && bound.0 != path;
        if let Some((target, _)) = names.iter().find(own) {
            let whole = [target.as_slice(), &rest[1..]].concat();
            return defines(modules, &module, &whole, depth + 1);
        }
        break;
    }
    Some(module)
}

/// A circle, its first module again at its end.
fn circle(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|start| walk(arrows, start, &mut Vec::new(), &mut done))
}

fn walk(
    arrows: &BTreeMap<Module, BTreeSet<Module>>,
    module: &Module,
    path: &mut Vec<Module>,
    done: &mut BTreeSet<Module>,
) -> Option<Vec<Module>> {
    if let Some(place) = path.iter().position(|before| before == module) {
        return Some([&path[place..], std::slice::from_ref(module)].concat());
    }
    if !done.insert(module.clone()) {
        return None;
    }
    path.push(module.clone());
    let found = arrows.get(module).into_iter().flatten().find_map(|next| walk(arrows, next, path, done));
    path.pop();
    found
}
