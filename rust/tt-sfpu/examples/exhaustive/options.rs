//! Command line options.

use std::thread;

/// Printed after a mistake.
pub const USAGE: &str = "exhaustive inputs|pairs [NAME ...] [--threads N] [--part K/N] [--list]
  NAME         functions whose name contains it, e.g. exp/accurate or multiply; all if none is given
  --threads N  host threads; all if not given
  --part K/N   the K-th of N equal parts of the inputs, spread over all of them
  --list       print the names only";

/// The command line.
#[derive(Debug)]
pub struct Options {
    /// Pairs of BF16 values, otherwise 32-bit words.
    pub pairs: bool,
    /// Parts of names.
    pub names: Vec<String>,
    /// Host threads.
    pub threads: usize,
    /// The part of the inputs, from 0, and the number of parts.
    pub part: (u64, u64),
    /// Only print names.
    pub list: bool,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let pairs = match arguments.next().as_deref() {
            Some("inputs") => false,
            Some("pairs") => true,
            other => return Err(format!("expected inputs or pairs, got {other:?}")),
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self { pairs, names: Vec::new(), threads, part: (0, 1), list: false };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => options.list = true,
                "--threads" => options.threads = number(arguments.next())?.max(1) as usize,
                "--part" => options.part = part(arguments.next())?,
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ => options.names.push(argument),
            }
        }
        Ok(options)
    }

    /// Returns true if a function was requested.
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part.as_str()))
    }
}

fn number(text: Option<String>) -> Result<u64, String> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| format!("expected a number, got {text:?}"))
}

fn part(text: Option<String>) -> Result<(u64, u64), String> {
    let text = text.unwrap_or_default();
    let found = text.split_once('/').and_then(|(k, n)| Some((k.parse::<u64>().ok()?, n.parse::<u64>().ok()?)));
    match found {
        Some((k, n)) if 1 <= k && k <= n => Ok((k - 1, n)),
        _ => Err(format!("--part expects K/N with K from 1 to N, got {text:?}")),
    }
}
