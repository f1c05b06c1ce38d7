//! Functions of the SFPU on tiles of `Dst`.

use std::sync::Arc;

use tt_cpu::Level;
use tt_formats::{Arch, DataFormat, TileShape};
use tt_sfpu::tile::{Access, Registers, Rules, TileFunction};
use tt_sfpu::{BinaryFunction, Call, DstWidth, TernaryFunction};
use tt_tensix::pack::DstFormat;
use tt_tensix::regs::FACE_DATUMS;

use super::threads::{MATH, PACK};
use crate::error::{Fault, FaultKind};
use crate::spec::ComputeConfig;
use crate::state::Run;
use crate::state::compute::setups::{Init, column};
use crate::state::compute::{Compute, Tile, ZERO, shape};

/// A function with its parameters, as a `*_tile` call names it.
#[derive(Debug, Clone)]
pub struct VectorCall {
    /// Name of the tile function.
    pub name: Arc<str>,
    /// The init call that it needs.
    pub init: Init,
    /// On each generation that has the function: on Wormhole, on Blackhole.
    programs: [Option<Program>; 2],
    /// The same in a kernel with `math_approx_mode`, if its header asks for that.
    approximations: [Option<Program>; 2],
    /// Its steps are of the last place of FP32, which a 16-bit `Dst` does not keep.
    needs_wide: bool,
    /// Its name in the listings, for its cost.
    function: Arc<str>,
    /// What `Dst` holds afterwards, if that changes.
    makes: Option<DstFormat>,
}

/// What a call does, and whether that is an approximate variant of the listings.
#[derive(Debug, Clone)]
struct Program {
    operation: Operation,
    approximate: bool,
}

#[derive(Debug, Clone)]
enum Operation {
    Unary(Call),
    Binary(tt_sfpu::BinaryCall),
    Ternary(tt_sfpu::TernaryCall),
    /// Every datum becomes this word.
    Fill(u32),
    /// The tile becomes a copy of another.
    Copy,
    /// A function that moves datums or keeps registers, with its parameters.
    Tile(TileFunction, Vec<u32>),
}

/// Functions whose header asks for `math_approx_mode`: name, variant, and variant in kernels with that mode.
const APPROXIMATIONS: &[(&str, &str, &str)] = &[
    ("atan2", "default", "approx"),
    ("i1", "default", "approx"),
    ("polygamma", "default", "approx"),
    ("rdiv", "default", "approx"),
    ("rdiv", "floor", "approx_floor"),
    ("rdiv", "trunc", "approx_trunc"),
    ("rsqrt", "compat", "compat_approx"),
    ("rsqrt", "default", "approx"),
    ("rsqrt", "fast", "approx_fast"),
    ("softsign", "default", "approx"),
    ("sqrt", "accurate", "approx"),
    ("sqrt", "fast", "approx_fast"),
];

impl VectorCall {
    /// Returns an init entry for SFPU functions with this init.
    pub fn init_only(name: &str, init: &str) -> Self {
        let program = Some(Program { operation: Operation::Copy, approximate: false });
        Self {
            name: name.into(),
            init: Init::new(init),
            programs: [program.clone(), program],
            approximations: [None, None],
            needs_wide: false,
            function: "copy".into(),
            makes: None,
        }
    }

    /// The function of these names, with parameters as raw words.
    ///
    /// Of the listings, of one, two or three tiles. `fill` takes one word, `copy` two tiles; `tile/name` is a function
    /// of [`tt_sfpu::tile`].
    ///
    /// # Errors
    /// No generation has the function, or it has other parameters.
    pub fn new(
        (name, init): (&str, &str),
        (function, variant): (&str, &str),
        tiles: u32,
        parameters: &[u32],
        makes: Option<DstFormat>,
    ) -> Result<Self, String> {
        let found = APPROXIMATIONS.iter().find(|known| (known.0, known.1) == (function, variant));
        let on_each = |variant| {
            [Arch::Wormhole, Arch::Blackhole].map(|arch| Program::new(arch, (function, variant), tiles, parameters))
        };
        let programs = match on_each(variant) {
            [Err(error), Err(_)] => return Err(error),
            programs => programs.map(Result::ok),
        };
        let approximations = found.map_or([None, None], |known| on_each(known.2).map(Result::ok));
        let needs_wide = (function, variant) == ("nextafter", "default");
        let function = if function == "tile" { variant } else { function };
        Ok(Self {
            name: name.into(),
            init: Init::new(init),
            programs,
            approximations,
            needs_wide,
            function: function.into(),
            makes,
        })
    }

    /// What it does in a kernel on a generation.
    #[inline]
    fn program(&self, config: &ComputeConfig, arch: Arch) -> Result<&Program, FaultKind> {
        let place = usize::from(arch != Arch::Wormhole);
        let approximation = self.approximations[place].as_ref().filter(|_| config.approximate);
        approximation.or(self.programs[place].as_ref()).ok_or_else(|| self.missing(arch))
    }

    #[cold]
    fn missing(&self, arch: Arch) -> FaultKind {
        FaultKind::Argument(format!("{} does not exist on a {arch:?}, only on the other chips", self.name))
    }
}

impl Program {
    fn new(arch: Arch, (function, variant): (&str, &str), tiles: u32, parameters: &[u32]) -> Result<Self, String> {
        let unknown = || format!("the SFPU has no function {function}/{variant} of {tiles} tiles");
        let operation = match (tiles, function) {
            (_, "tile") => {
                let found = tt_sfpu::tile::lookup(variant).ok_or_else(unknown)?;
                let (least, most) = found.parameters;
                if parameters.len() < least || parameters.len() > most || tiles as usize != found.tiles.len() {
                    return Err(format!("{variant} takes {} tiles, {least} to {most} parameters", found.tiles.len()));
                }
                Operation::Tile(found, parameters.to_vec())
            }
            (1, "fill") => Operation::Fill(*parameters.first().ok_or_else(unknown)?),
            (2, "copy") => Operation::Copy,
            (1, _) => {
                let found = tt_sfpu::lookup(arch, function, variant).ok_or_else(unknown)?;
                Operation::Unary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            (2, _) => {
                let found: BinaryFunction = tt_sfpu::lookup_binary(arch, function, variant).ok_or_else(unknown)?;
                Operation::Binary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            (3, _) => {
                let found: TernaryFunction = tt_sfpu::lookup_ternary(arch, function, variant).ok_or_else(unknown)?;
                Operation::Ternary(found.with(parameters).map_err(|error| error.to_string())?)
            }
            _ => return Err(unknown()),
        };
        Ok(Self { operation, approximate: variant.starts_with("approx") || variant.ends_with("fast") })
    }
}

/// Faces that a vector mode works on.
const FACES: [&[usize]; 3] = [&[0, 1, 2, 3], &[0, 1], &[0, 2]];

/// Bit of a mode: the function runs on the packer's thread, between `tile_regs_wait` and `tile_regs_release`.
const ON_PACK: u32 = 4;

/// The thread that runs a function.
fn thread_of(mode: u32) -> u8 {
    if mode & ON_PACK == 0 { MATH } else { PACK }
}

/// Whether a function does without a tile: the last step of topk leaves out the second half of values and indices if it
/// is told so.
fn is_left_out(function: &TileFunction, parameters: &[u32], slot: usize) -> bool {
    function.name == "topk_rebuild" && parameters.get(4).is_some_and(|skip| skip & 1 == 1) && slot % 2 == 1
}

impl Compute {
    /// Section and place of a tile that the SFPU works on: math's, or with `on_pack` the packer's.
    fn vector_tile(&self, index: u32, on_pack: bool) -> Result<(usize, usize), FaultKind> {
        if on_pack {
            self.check_index(index)?;
            Ok((self.packable()?, index as usize))
        } else {
            Ok((self.filling, self.math_tile(index)?))
        }
    }

    /// A copy of such a tile and what it holds.
    fn vector_operand(&mut self, index: u32, on_pack: bool) -> Result<(Tile, DstFormat), FaultKind> {
        let (section, at) = self.vector_tile(index, on_pack)?;
        let held = self.sections[section].held[at].ok_or(FaultKind::DstUnwritten { index })?;
        Ok((*self.sections[section].tiles[at].dst(), held))
    }

    /// Runs a tile function; returns what its results hold.
    fn run_tile(
        &mut self,
        function: &TileFunction,
        parameters: &[u32],
        indices: &[u32],
        makes: Option<DstFormat>,
        width: DstWidth,
    ) -> Result<(), FaultKind> {
        let mut tiles = Vec::with_capacity(indices.len());
        let mut held = Vec::with_capacity(indices.len());
        for (slot, (&index, access)) in indices.iter().zip(function.tiles).enumerate() {
            let at = self.math_tile(index)?;
            let needed = *access != Access::Makes && !is_left_out(function, parameters, slot);
            if !needed && self.sections[self.filling].held[at].is_none() {
                tiles.push(ZERO);
                held.push(None);
                continue;
            }
            let (tile, holds) = self.vector_operand(index, false)?;
            shape::require_full(self.sections[self.filling].shapes[at], function.name)?;
            tiles.push(tile);
            held.push(Some(holds));
        }
        let rules = Rules { width, arch: self.arch };
        let missing = function.run(&mut self.registers, &mut tiles, parameters, rules);
        missing.map_err(|missing| FaultKind::MissingInit {
            missing: format!("{missing} before {}", function.name),
            state: "the lane registers do not hold what it left there".to_owned(),
        })?;
        let first = held.iter().flatten().next().copied();
        let made = makes.or(first).unwrap_or(if self.config.dst32 { DstFormat::Fp32 } else { DstFormat::Bf16 });
        for (slot, (&index, access)) in indices.iter().zip(function.tiles).enumerate() {
            let left_out = held[slot].is_none() && is_left_out(function, parameters, slot);
            if *access == Access::Reads || left_out {
                continue;
            }
            let at = self.math_tile(index)?;
            let section = &mut self.sections[self.filling];
            *section.tiles[at].dst() = tiles[slot];
            // What is changed in place stays what it is: values and their indices may differ.
            section.held[at] = if *access == Access::Changes && makes.is_none() { held[slot] } else { Some(made) };
            section.shapes[at] = TileShape::FULL;
        }
        Ok(())
    }
}

impl Compute {
    /// The SFPU must be set up for the function of a call.
    #[inline]
    fn require_vector(&self, call: &VectorCall) -> Result<(), FaultKind> {
        if self.vector.fits(&call.init, column(&self.config)) { Ok(()) } else { Err(self.missing_setup(call)) }
    }

    #[cold]
    fn missing_setup(&self, call: &VectorCall) -> FaultKind {
        let missing = format!("{} before {}", call.init.title, call.name);
        FaultKind::MissingInit { missing, state: self.vector.describe(&call.init, column(&self.config)) }
    }
}

impl Run {
    /// Sets up the SFPU.
    ///
    /// With `mode` [`ON_PACK`] for functions on the packer's thread.
    ///
    /// # Errors
    /// A data-movement kernel.
    pub fn vector_init(&mut self, call: &VectorCall, mode: u32) -> Result<(), Fault> {
        if self.puts_off() {
            let call = call.clone();
            return self.put_off(thread_of(mode), move |run, _| run.vector_init(&call, mode).map(|()| true));
        }
        self.checked(&call.init.title, |run| {
            let cost = run.time.compute().init;
            let (clocks, compute) = run.engine()?;
            let column = column(&compute.config);
            if compute.vector.call(&call.init, column) {
                compute.registers = Registers::Free;
                let constants = call.init.setup.constants(column);
                for (register, word) in (0..).zip(constants) {
                    if let Some(word) = word {
                        compute.lanes.set_constant(register, word);
                    }
                }
            }
            if let Operation::Tile(function, parameters) = &call.program(&compute.config, compute.arch)?.operation {
                compute.run_tile(function, parameters, &[], None, DstWidth::Bits32)?;
            }
            clocks[if mode & ON_PACK == 0 { 1 } else { 2 }] += cost;
            Ok(())
        })
    }

    /// Applies a tile function to `Dst` tiles in argument order.
    ///
    /// One for each operand and result.
    ///
    /// # Errors
    /// Setup, `Dst` protocol.
    pub fn vector_tiles(&mut self, call: &VectorCall, tiles: &[u32]) -> Result<(), Fault> {
        if self.puts_off() {
            let (call, tiles) = (call.clone(), tiles.to_vec());
            return self.put_off(MATH, move |run, _| run.vector_tiles(&call, &tiles).map(|()| true));
        }
        self.checked(&call.name, |run| {
            let compute = run.engine()?.1;
            let (wide, program) = (compute.config.dst32, call.program(&compute.config, compute.arch)?);
            let time = run.time.vector(&call.function, program.approximate, wide)?;
            let (clocks, compute) = run.engine()?;
            compute.require_vector(call)?;
            let Operation::Tile(function, parameters) = &program.operation else {
                return Err(FaultKind::Bug(format!("{} is no tile function", call.name)));
            };
            let integers = matches!(call.makes, Some(DstFormat::Int32 | DstFormat::Fp32));
            if integers && !wide {
                return Err(FaultKind::NeedsWideDst { format: DataFormat::Int32 });
            }
            let width = if wide { DstWidth::Bits32 } else { DstWidth::Bits16 };
            compute.run_tile(function, parameters, tiles, call.makes, width)?;
            compute.vector.used(&call.name, &call.init);
            clocks[1] += time;
            Ok(())
        })
    }

    /// Applies a function to tiles `a` (and `b`, `c`) of `Dst`.
    ///
    /// The result goes to `out`. `mode` 0 takes all faces, 1 the upper two (a row), 2 the left two (a column); with
    /// [`ON_PACK`] added on the packer's thread.
    ///
    /// # Errors
    /// Setup, `Dst` protocol.
    pub fn vector(&mut self, call: &VectorCall, tiles: [u32; 3], out: u32, mode: u32) -> Result<(), Fault> {
        if self.puts_off() {
            let call = call.clone();
            return self.put_off(thread_of(mode), move |run, _| run.vector(&call, tiles, out, mode).map(|()| true));
        }
        self.checked(&call.name, |run| {
            let compute = run.engine()?.1;
            compute.require_vector(call)?;
            let (wide, program) = (compute.config.dst32, call.program(&compute.config, compute.arch)?);
            let time = run.time.vector(&call.function, program.approximate, wide)?;
            let (clocks, compute) = run.engine()?;
            if call.needs_wide && !wide {
                return Err(FaultKind::NeedsWideDst { format: DataFormat::Float32 });
            }
            compute.vector.used(&call.name, &call.init);
            let on_pack = mode & ON_PACK != 0;
            let faces = FACES.get((mode & !ON_PACK) as usize);
            let faces = *faces.ok_or_else(|| FaultKind::Argument(format!("vector mode {mode}")))?;
            let width = if wide { DstWidth::Bits32 } else { DstWidth::Bits16 };
            let level = Level::current();
            let [a, b, c] = tiles;
            let (section, out_at) = compute.vector_tile(out, on_pack)?;
            let held = match &program.operation {
                Operation::Fill(word) => {
                    let made = call.makes.unwrap_or(if wide { DstFormat::Fp32 } else { DstFormat::Bf16 });
                    if made == DstFormat::Int32 && !wide {
                        return Err(FaultKind::NeedsWideDst { format: DataFormat::Int32 });
                    }
                    let narrow = width == DstWidth::Bits16 && made != DstFormat::UInt16;
                    let word = if narrow { word & 0xffff_0000 } else { *word };
                    compute.sections[section].tiles[out_at].dst().fill(word);
                    made
                }
                Operation::Copy => {
                    let (source, held) = compute.vector_operand(a, on_pack)?;
                    *compute.sections[section].tiles[out_at].dst() = source;
                    held
                }
                Operation::Unary(function) => {
                    let (_, at) = compute.vector_tile(a, on_pack)?;
                    let held = compute.sections[section].held[at].ok_or(FaultKind::DstUnwritten { index: a })?;
                    let tile = compute.sections[section].tiles[at].dst();
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
                    (*compute.spare, _) = compute.vector_operand(a, on_pack)?;
                    let (second, held) = compute.vector_operand(b, on_pack)?;
                    function.run(&mut *compute.spare, &second, width, level);
                    if faces.len() < 4 && compute.sections[section].held[out_at].is_none() {
                        // The other faces keep what they hold.
                        return Err(FaultKind::DstUnwritten { index: out });
                    }
                    let tile = compute.sections[section].tiles[out_at].dst();
                    for &face in faces {
                        let datums = face * FACE_DATUMS..(face + 1) * FACE_DATUMS;
                        tile[datums.clone()].copy_from_slice(&compute.spare[datums]);
                    }
                    held
                }
                Operation::Ternary(function) => {
                    (*compute.spare, _) = compute.vector_operand(a, on_pack)?;
                    let (second, _) = compute.vector_operand(b, on_pack)?;
                    let (third, held) = compute.vector_operand(c, on_pack)?;
                    function.run(&mut *compute.spare, &second, &third, width, level);
                    *compute.sections[section].tiles[out_at].dst() = *compute.spare;
                    held
                }
                Operation::Tile(function, _) => {
                    return Err(FaultKind::Bug(format!("{} takes its tiles in a list", function.name)));
                }
            };
            let made = match call.makes {
                Some(DstFormat::Fp32) if !wide => DstFormat::Bf16,
                made => made.unwrap_or(held),
            };
            if !matches!(program.operation, Operation::Fill(_)) {
                let source = &mut compute.sections[section];
                source.shapes[out_at] = source.shapes[a as usize];
                source.whole[out_at] = source.whole[a as usize];
            } else if compute.sections[section].held[out_at].is_none() {
                compute.sections[section].shapes[out_at] = TileShape::FULL;
            }
            compute.sections[section].held[out_at] = Some(made);
            clocks[if on_pack { 2 } else { 1 }] += time * faces.len() as u64 / 4;
            Ok(())
        })
    }
}
