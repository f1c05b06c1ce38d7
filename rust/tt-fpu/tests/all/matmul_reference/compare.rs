//! Tile product sequences at every CPU level against the integer reference.
//!
//! It is independent, and compared output by output.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Accumulator, Arch, Dst, DstFormat, MathConfig, MathFidelity, PreparedA, PreparedB, Src};
use tt_testkit::random::Random;
use tt_testkit::reference::fpu::{self as reference, Setting};

/// How the words of a tile are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As of real data: a band of exponents.
    Real,
    /// Exponents in a narrow band, so that every product counts and ties are frequent.
    Close,
    /// Any bits: denormals, infinity and NaN patterns, all exponents.
    Anything,
    /// Products near the smallest exponents.
    Tiny,
    /// Products near the largest.
    Huge,
    /// The smallest exponents beside the largest.
    TinyBesideHuge,
    /// Mantissas as short as those of block floats: parts that are zero throughout.
    Short,
    /// Mostly zeros.
    Sparse,
    /// Products of 16 that cancel what `Dst` holds, to within few units.
    Cancelling,
    /// No zeros.
    Dense,
    /// No zeros; exponents at the ends of what the plain path takes, and one beyond: each operand's, and the product's.
    Edge,
}

const KINDS: [Kind; 11] = [
    Kind::Real,
    Kind::Close,
    Kind::Anything,
    Kind::Tiny,
    Kind::Huge,
    Kind::TinyBesideHuge,
    Kind::Short,
    Kind::Sparse,
    Kind::Cancelling,
    Kind::Dense,
    Kind::Edge,
];

/// The counts of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Outputs of the reference.
    ///
    /// Each was compared at every CPU level that the host has.
    pub outputs: u64,
    /// Those among them that Wormhole's "-1" bug changed.
    pub minus_one: u64,
}

/// Every combination of operand format, width of Dst and chip.
fn settings() -> Vec<(Setting, MathConfig)> {
    let mut all = Vec::new();
    for alu in [DataFormat::Tf32, DataFormat::Float16B, DataFormat::Float16] {
        let five_bit_exponents = alu == DataFormat::Float16;
        for wide_dst in [false, true] {
            for arch in [Arch::Wormhole, Arch::Blackhole] {
                let narrow = if five_bit_exponents { DstFormat::Fp16 } else { DstFormat::Bf16 };
                let dst = if wide_dst { DstFormat::Fp32 } else { narrow };
                let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch };
                all.push((Setting { five_bit_exponents, wide_dst, wormhole: arch == Arch::Wormhole }, cfg));
            }
        }
    }
    all
}

/// A datum; `least` is the smallest exponent of its tile, for [`Kind::Edge`].
fn word(random: &mut Random, kind: Kind, least: i32, cfg: &MathConfig) -> u32 {
    let top = if cfg.alu == DataFormat::Float16 { 31 } else { 255 };
    let exponent = match kind {
        Kind::Real | Kind::Short | Kind::Sparse | Kind::Dense => {
            (top / 2 - random.between(0, 12).min(random.between(0, 12))).max(1)
        }
        Kind::Close | Kind::Cancelling => top / 2 + random.between(-3, 3),
        Kind::Anything => random.between(0, top),
        Kind::Tiny => random.between(0, top / 2 + 8).min(if random.one_in(2) { top / 4 } else { top }),
        Kind::Huge => random.between(top * 3 / 4, top),
        Kind::TinyBesideHuge if random.one_in(2) => random.between(0, top / 20 + 1),
        Kind::TinyBesideHuge => random.between(top - top / 20, top),
        Kind::Edge if random.one_in(2) => least,
        Kind::Edge => random.between(least, (least + 85).min(188)).min(top),
    };
    let zero = match kind {
        Kind::Dense | Kind::Edge => false,
        Kind::Sparse => random.one_in(2),
        _ => random.one_in(12),
    };
    let exponent = if zero { 0 } else { exponent as u32 };
    let mantissa = match random.below(4) {
        0 => random.below(1024),
        1 => 1 << random.below(10),
        2 => 1023 - (1 << random.below(10)),
        _ => random.below(8) << 7,
    };
    let kept = match (kind, cfg.alu) {
        (Kind::Short, _) => 0x3c0,
        (_, DataFormat::Float16B) => 0x3f8,
        _ => 0x3ff,
    };
    random.below(2) << 18 | exponent << 10 | mantissa & kept
}

fn tile(random: &mut Random, kind: Kind, cfg: &MathConfig) -> Box<Src> {
    let mut tile = Box::new([0; 1024]);
    // Two smallest exponents of 101 and 102 make the smallest product that the plain path takes.
    let least = match cfg.alu {
        DataFormat::Float16 => 1,
        _ => [23, 24, 101, 102, 102, 103, 180][random.below(7) as usize],
    };
    for datum in tile.iter_mut() {
        *datum = word(random, kind, least, cfg);
    }
    tile
}

const fn at(row: usize, column: usize) -> usize {
    (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16
}

/// One output of a tile product, by the reference.
fn output(setting: Setting, cfg: &MathConfig, (in0, in1): (&Src, &Src), row: usize, column: usize, old: u32) -> u32 {
    let mut dst = old;
    for phase in 0..cfg.fidelity.phases() {
        for half in [0, 16] {
            let a = std::array::from_fn(|k| in1[at(half + k, column)]);
            let b = std::array::from_fn(|k| in0[at(row, half + k)]);
            dst = reference::mvmul(setting, phase, &a, &b, dst);
        }
    }
    dst
}

/// A Dst word that the mode can hold.
fn any_word(random: &mut Random, cfg: &MathConfig) -> u32 {
    let word = random.bits() as u32;
    match cfg.dst {
        DstFormat::Bf16 => word & 0xffff_0000,
        DstFormat::Fp16 => word & 0x8fff_e000,
        _ => word,
    }
}

/// The opposite of a word, moved by a few units of its last place.
fn opposite(random: &mut Random, cfg: &MathConfig, word: u32) -> u32 {
    let (unit, limit) = match cfg.dst {
        DstFormat::Bf16 => (1 << 16, 0x7fff_0000),
        DstFormat::Fp16 => (1 << 13, 0x0fff_e000),
        _ => (1, 0x7fff_ffff),
    };
    let moved = (word & 0x7fff_ffff).saturating_add_signed(random.between(-2, 2) * unit);
    moved.min(limit) | !word & 0x8000_0000
}

/// What one case starts with, and the operands of its products.
struct Case {
    setting: Setting,
    cfg: MathConfig,
    start: Box<Dst>,
    operands: Vec<(Box<Src>, Box<Src>)>,
}

impl Case {
    /// One product, or two of which the second is of another kind: what is known of Dst must not outlive its truth.
    fn draw(random: &mut Random, setting: Setting, cfg: MathConfig, kind: Kind) -> Self {
        let mut kinds = vec![kind];
        if random.one_in(2) {
            kinds.push(if random.one_in(2) { Kind::Real } else { KINDS[random.below(11) as usize] });
        }
        let mut operands: Vec<_> =
            kinds.iter().map(|&kind| (tile(random, kind, &cfg), tile(random, kind, &cfg))).collect();
        // Rows of in0 of which a group of eight, or everything, is zero: faces 0 and 1 hold K 0 to 31.
        let in0 = &mut operands[0].0;
        if !matches!(kind, Kind::Dense | Kind::Edge) {
            in0[16..24].fill(0);
            in0[256 + 24..256 + 32].fill(1 << 18);
            in0[48..64].fill(0);
            in0[256 + 48..256 + 64].fill(0);
        }
        let mut start = Box::new([0; 1024]);
        match kind {
            Kind::Real | Kind::Close | Kind::Short | Kind::Dense => {}
            Kind::Edge if random.one_in(2) => {}
            Kind::Cancelling => {
                // Only the first 16 products count, so that a step ends with what was aimed at.
                in0[256..512].fill(0);
                in0[768..].fill(0);
                let first = MathConfig { fidelity: MathFidelity::LoFi, ..cfg };
                let (in0, in1) = &operands[0];
                for (row, column) in (0..32).flat_map(|row| (0..32).map(move |column| (row, column))) {
                    let sum = output(setting, &first, (in0, in1), row, column, 0);
                    start[at(row, column)] = opposite(random, &cfg, sum);
                }
            }
            _ => start.iter_mut().for_each(|word| *word = any_word(random, &cfg)),
        }
        Self { setting, cfg, start, operands }
    }

    fn expected(&self, setting: Setting) -> Box<Dst> {
        let mut dst = self.start.clone();
        for (in0, in1) in &self.operands {
            for (row, column) in (0..32).flat_map(|row| (0..32).map(move |column| (row, column))) {
                let word = &mut dst[at(row, column)];
                *word = output(setting, &self.cfg, (in0, in1), row, column, *word);
            }
        }
        dst
    }

    /// Compares every level with the reference; the first difference as text.
    fn compare(&self, counts: &mut Counts) -> Result<(), String> {
        let expected = self.expected(self.setting);
        counts.outputs += 1024;
        if self.setting.wormhole && self.setting.wide_dst {
            let without = self.expected(Setting { wormhole: false, ..self.setting });
            counts.minus_one +=
                expected.iter().zip(without.iter()).filter(|(with, without)| with != without).count() as u64;
        }
        let (mut a, mut b) = (Box::new(PreparedA::new()), Box::new(PreparedB::new()));
        for &level in Level::supported() {
            let mut got = Box::new(Accumulator::new());
            if self.start.iter().any(|&word| word != 0) {
                got.dst().copy_from_slice(&self.start[..]);
            }
            for (in0, in1) in &self.operands {
                a.prepare(&self.cfg, in1);
                b.prepare(&self.cfg, in0);
                tt_fpu::accumulate_at(level, &self.cfg, &mut got, &mut a, &mut b);
            }
            let got = got.dst();
            if let Some(i) = (0..1024).find(|&i| got[i] != expected[i]) {
                let (start, got, expected) = (self.start[i], got[i], expected[i]);
                return Err(format!("datum {i} at {level}: {start:08x} became {got:08x}, expected {expected:08x}"));
            }
        }
        Ok(())
    }
}

/// Compares at least `outputs` outputs, the same ones in every run.
///
/// # Panics
/// At the first difference.
pub fn compare(outputs: u64) -> Counts {
    let mut random = Random::new(6);
    let mut counts = Counts::default();
    let settings = settings();
    for round in 0.. {
        for (i, &(setting, cfg)) in settings.iter().enumerate() {
            for (j, kind) in KINDS.into_iter().enumerate() {
                if counts.outputs >= outputs {
                    return counts;
                }
                let cfg = MathConfig { fidelity: MathFidelity::ALL[(round + i + j) % 4], ..cfg };
                let case = Case::draw(&mut random, setting, cfg, kind);
                if let Err(difference) = case.compare(&mut counts) {
                    panic!("{cfg:?}, {kind:?}, after {} outputs: {difference}", counts.outputs);
                }
            }
        }
    }
    counts
}
