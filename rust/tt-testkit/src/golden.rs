//! Reader for golden data: numpy archives of raw bit patterns, tables.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use npyz::npz::NpzArchive;

/// The folder of golden vectors: `TTNN_GOLDEN`, or `../shared/golden` seen from the workspace.
pub fn folder() -> PathBuf {
    std::env::var_os("TTNN_GOLDEN")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/golden")), PathBuf::from)
}

/// A row of a table: column name to cell.
pub type Row = BTreeMap<String, String>;

/// The path of a golden file.
///
/// Says so and returns `None` if it is missing.
///
/// # Panics
/// If it is missing and `TTNN_GOLDEN_REQUIRED` is 1.
#[allow(clippy::print_stderr, reason = "a skipped test says why")]
pub fn golden_file(name: &str) -> Option<PathBuf> {
    let path = folder().join(name);
    if !path.exists() {
        let required = std::env::var_os("TTNN_GOLDEN_REQUIRED").is_some_and(|value| value == "1");
        assert!(!required, "no golden data at {}, and TTNN_GOLDEN_REQUIRED is 1", path.display());
        eprintln!("skipped: no golden data at {}", path.display());
        return None;
    }
    Some(path)
}

/// The rows of a table of comma-separated values, quotes allowed.
///
/// # Panics
/// As [`golden_file`]; if the table has no header.
pub fn table(name: &str) -> Option<Vec<Row>> {
    let text = std::fs::read_to_string(golden_file(name)?).expect("a readable table");
    let mut lines = text.lines().map(cells);
    let names = lines.next().expect("a header");
    Some(lines.map(|line| names.iter().cloned().zip(line).collect()).collect())
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("at least one cell").push(letter),
        }
    }
    cells
}

/// An array and its shape; values are bit patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Lengths of the dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Values in C order, widened to 32 bits.
    pub data: Vec<u32>,
}

impl Array {
    /// Number of entries of the outermost dimension.
    pub fn len(&self) -> usize {
        self.shape[0]
    }

    /// True for an array without entries.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The values of entry `i` of the outermost dimension.
    pub fn at(&self, i: usize) -> &[u32] {
        let stride = self.data.len() / self.shape[0];
        &self.data[i * stride..(i + 1) * stride]
    }

    /// The same as bytes, for arrays of bytes.
    pub fn bytes_at(&self, i: usize) -> Vec<u8> {
        self.at(i).iter().map(|&value| value as u8).collect()
    }
}

/// Sorted archive names of a golden subfolder, without their ending.
pub fn names(folder_name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder().join(folder_name)).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| Some(entry.file_name().to_str()?.strip_suffix(".npz")?.to_owned());
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort();
    names
}

/// One `.npz` file.
pub struct Archive {
    name: String,
    file: NpzArchive<BufReader<File>>,
}

/// Opens a file of the golden folder, e.g. `fpu/mvmul_step`.
///
/// Says so and returns `None` if it is missing.
///
/// # Panics
/// If the file exists but is no archive, or if it is missing and `TTNN_GOLDEN_REQUIRED` is 1.
pub fn open(name: &str) -> Option<Archive> {
    let path = golden_file(&format!("{name}.npz"))?;
    let file = NpzArchive::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(Archive { name: name.to_owned(), file })
}

impl Archive {
    /// Names of the arrays, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.file.array_names().map(str::to_owned).collect();
        names.sort();
        names
    }

    /// Reads an array of 8, 16 or 32-bit integers or of float32.
    ///
    /// Values become bit patterns.
    ///
    /// # Panics
    /// If the array is missing or of another type.
    pub fn read(&mut self, name: &str) -> Array {
        self.try_read(name).unwrap_or_else(|error| panic!("{} of {}: {error}", name, self.name))
    }

    fn try_read(&mut self, name: &str) -> io::Result<Array> {
        let file = self.file.by_name(name)?.ok_or_else(|| io::Error::other("no such array"))?;
        let shape = file.shape().iter().map(|&n| n as usize).collect();
        let unknown = || io::Error::other("not an array of integers or float32");
        let npyz::DType::Plain(kind) = file.dtype() else { return Err(unknown()) };
        let data = match kind.to_string().trim_start_matches(['<', '|']) {
            "u1" => file.into_vec::<u8>()?.into_iter().map(u32::from).collect(),
            "u2" => file.into_vec::<u16>()?.into_iter().map(u32::from).collect(),
            "u4" => file.into_vec::<u32>()?,
            "i4" => file.into_vec::<i32>()?.into_iter().map(|value| value as u32).collect(),
            "f4" => file.into_vec::<f32>()?.into_iter().map(f32::to_bits).collect(),
            _ => return Err(unknown()),
        };
        Ok(Array { shape, data })
    }
}
