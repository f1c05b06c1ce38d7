//! Functions of the vector unit on tiles of `Dst`.

use std::sync::Arc;

use tt_cpu::Level;
use tt_tensix::pack::DstFormat;
use tt_tensix::regs::FACE_DATUMS;
use tt_tensix::sfpu::{self, BinaryFunction, Call, DstWidth, TernaryFunction};

use crate::error::{Fault, What};
use crate::run::Run;

/// A function with its parameters, as a `*_tile` call names it.
#[derive(Debug, Clone)]
pub struct VectorCall {
    /// Name of the tile function.
    pub name: Arc<str>,
    /// Name of the init call that it needs.
    pub init: Arc<str>,
    operation: Operation,
    /// Its name in the listings, for its cost.
    function: Arc<str>,
    /// Whether it is the approximate variant there.
    approximate: bool,
    /// What `Dst` holds afterwards, if that changes.
    makes: Option<DstFormat>,
}

#[derive(Debug, Clone)]
enum Operation {
    Unary(Call),
    Binary(sfpu::SeveralCall<BinaryKernel>),
    Ternary(sfpu::SeveralCall<TernaryKernel>),
    /// Every datum becomes this word.
    Fill(u32),
    /// The tile becomes a copy of another.
    Copy,
}

type BinaryKernel = fn(&mut [u32], &[u32], &[u32], Level);
type TernaryKernel = fn(&mut [u32], [&[u32]; 2], &[u32], Level);

impl VectorCall {
    /// The function with these names of the listings, of one, two or three tiles, with its parameters as raw words.
    /// `fill` takes one word, `copy` two tiles.
    ///
    /// # Errors
    /// No such function, or other parameters.
    pub fn new(
        (name, init): (&str, &str),
        (function, variant): (&str, &str),
        tiles: u32,
        parameters: &[u32],
        makes: Option<DstFormat>,
    ) -> Result<Self, String> {
        let unknown = || format!("the vector unit has no function {function}/{variant} of {tiles} tiles");
        let operation = match (tiles, function) {
            (1, "fill") => Operation::Fill(*parameters.first().ok_or_else(unknown)?),
            (2, "copy") => Operation::Copy,
            (1, _) => {
                let found = sfpu::lookup(function, variant).ok_or_else(unknown)?;
                Operation::Unary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            (2, _) => {
                let found: BinaryFunction = sfpu::lookup_binary_variant(function, variant).ok_or_else(unknown)?;
                Operation::Binary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            (3, _) => {
                let found: TernaryFunction = sfpu::lookup_ternary(function, variant).ok_or_else(unknown)?;
                Operation::Ternary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            _ => return Err(unknown()),
        };
        let approximate = variant.starts_with("approx") || variant.ends_with("fast");
        Ok(Self { name: name.into(), init: init.into(), operation, function: function.into(), approximate, makes })
    }
}

/// Faces that a vector mode works on.
const FACES: [&[usize]; 3] = [&[0, 1, 2, 3], &[0, 1], &[0, 2]];

impl Run {
    /// Sets up the vector unit.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn vector_init(&mut self, init: &Arc<str>) -> Result<(), Fault> {
        self.checked("a vector init", |run| {
            let cost = run.time.compute().init;
            let (clocks, compute) = run.engine()?;
            if compute.vector.as_ref().is_none_or(|set| !Arc::ptr_eq(set, init)) {
                compute.vector = Some(Arc::clone(init));
            }
            clocks[1] += cost;
            Ok(())
        })
    }

    /// Applies a function to tiles `a` (and `b`, `c`) of `Dst`; the result goes to `out`. `mode` 0 takes all faces, 1 the
    /// upper two (a row), 2 the left two (a column).
    ///
    /// # Errors
    /// Setup, `Dst` protocol.
    pub fn vector(&mut self, call: &VectorCall, tiles: [u32; 3], out: u32, mode: u32) -> Result<(), Fault> {
        self.checked("a vector function", |run| {
            let wide = run.engine()?.1.config.dst32;
            let time = run.time.vector(&call.function, call.approximate, wide);
            let (clocks, compute) = run.engine()?;
            match &compute.vector {
                Some(set) if Arc::ptr_eq(set, &call.init) || **set == *call.init => {}
                set => {
                    let state = match set {
                        None => "the vector unit was never set up".to_owned(),
                        Some(set) => format!("the vector unit was last set up by {set}"),
                    };
                    return Err(What::MissingInit { missing: format!("{} before {}", call.init, call.name), state });
                }
            }
            let faces = *FACES.get(mode as usize).ok_or_else(|| What::Argument(format!("vector mode {mode}")))?;
            let width = if compute.config.dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 };
            let level = Level::current();
            let [a, b, c] = tiles;
            let out_at = compute.math_tile(out)?;
            let held = match &call.operation {
                Operation::Fill(word) => {
                    let made =
                        call.makes.unwrap_or(if compute.config.dst32 { DstFormat::Fp32 } else { DstFormat::Bf16 });
                    let word = if width == DstWidth::Bits16 { word & 0xffff_0000 } else { *word };
                    compute.sections[compute.filling].tiles[out_at].dst().fill(word);
                    made
                }
                Operation::Copy => {
                    let (source, held) = compute.held(a)?;
                    let source = *source;
                    *compute.sections[compute.filling].tiles[out_at].dst() = source;
                    held
                }
                Operation::Unary(function) => {
                    let (tile, held) = compute.held(a)?;
                    if faces.len() == 4 {
                        function.run(tile, width, level);
                    } else {
                        for &face in faces {
                            function.run(&mut tile[face * FACE_DATUMS..(face + 1) * FACE_DATUMS], width, level);
                        }
                    }
                    held
                }
                Operation::Binary(function) => {
                    let first = *compute.held(a)?.0;
                    let (second, held) = compute.held(b)?;
                    let second = *second;
                    *compute.spare = first;
                    function.run(&mut *compute.spare, &second, width, level);
                    *compute.sections[compute.filling].tiles[out_at].dst() = *compute.spare;
                    held
                }
                Operation::Ternary(function) => {
                    let (first, second) = (*compute.held(a)?.0, *compute.held(b)?.0);
                    let (third, held) = compute.held(c)?;
                    let third = *third;
                    *compute.spare = first;
                    function.run(&mut *compute.spare, &second, &third, width, level);
                    *compute.sections[compute.filling].tiles[out_at].dst() = *compute.spare;
                    held
                }
            };
            let made = match call.makes {
                Some(DstFormat::Fp32) if !compute.config.dst32 => DstFormat::Bf16,
                made => made.unwrap_or(held),
            };
            compute.sections[compute.filling].held[out_at] = Some(made);
            clocks[1] += time * faces.len() as u64 / 4;
            Ok(())
        })
    }
}
