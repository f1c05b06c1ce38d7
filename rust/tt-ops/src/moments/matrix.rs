//! Variance of whole matrices from the statistics of their columns.
//!
//! The SFPU makes mean and variance of the columns of each tile column. It joins those of a full one itself if `Dst` has
//! 32 bits; the data movement processor joins the others 32 at a time, and then all.
//!
//! Source: tt-metal `welford_reduce_hw.cpp`, `writer_welford_hw.cpp`, `ckernel_sfpu_welfords_common.h`. The processor
//! has no floating point unit: its sums are those of IEEE 754, rounded to nearest even.

use tt_formats::Arch;
use tt_sfpu::fma;
use tt_sfpu::lane::{MINUS_ONE, ONE, ZERO, store_bf16, store_f32};

use super::SIDE;

/// 1 / 32 in FP32.
const ONE_OF_32: u32 = 0x3d00_0000;

/// Mean of some columns, and the sum of their variances and of the squared distances of their means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Block {
    mean: f32,
    variances: f32,
}

impl Block {
    /// Joins two blocks. `fraction` is the share of the columns of the second, `weight` that of the squared distance.
    fn joined(self, other: Self, fraction: f32, weight: f32) -> Self {
        let distance = other.mean - self.mean;
        Self {
            mean: self.mean + distance * fraction,
            variances: self.variances + other.variances + distance * distance * weight,
        }
    }

    /// The sum over eight lanes, in three steps, of each of the four parts of a register, then over the parts.
    fn sum_of_lanes(arch: Arch, lanes: &[u32; SIDE]) -> u32 {
        let add = |a, b| fma(a, ONE, b, arch);
        let [first, rest @ ..] = [0, 1, 2, 3].map(|part| {
            // Part 0 has the even columns of the left faces, part 1 the odd ones, parts 2 and 3 those of the right ones.
            let lane = |index: usize| lanes[16 * (part / 2) + 2 * index + part % 2];
            let halves = [0, 1, 2, 3].map(|index| add(lane(index), lane(index + 4)));
            add(add(halves[0], halves[2]), add(halves[1], halves[3]))
        });
        rest.into_iter().fold(first, add)
    }

    /// Joins 32 columns on the SFPU.
    fn of_tile(arch: Arch, means: &[u32; SIDE], variances: &[u32; SIDE]) -> Self {
        let mad = |a, b, c| fma(a, b, c, arch);
        let first = means[0];
        let distances = means.map(|mean| store_f32(mad(MINUS_ONE, first, mean)));
        let distance = mad(Self::sum_of_lanes(arch, &distances), ONE_OF_32, ZERO);
        let squares = distances.map(|word| {
            let rest = mad(MINUS_ONE, distance, word);
            mad(rest, rest, ZERO)
        });
        let variances = mad(Self::sum_of_lanes(arch, &squares), ONE, Self::sum_of_lanes(arch, variances));
        Self { mean: f32::from_bits(store_f32(mad(distance, ONE, first))), variances: f32::from_bits(variances) }
    }
}

/// Mean and variance of 32 lanes of equal numbers of datums, joined on the SFPU.
pub(crate) fn of_lanes(arch: Arch, means: &[u32; SIDE], variances: &[u32; SIDE]) -> (f32, f32) {
    let block = Block::of_tile(arch, means, variances);
    (block.mean, f32::from_bits(store_f32(fma(block.variances.to_bits(), ONE_OF_32, ZERO, arch))))
}

/// Up to 32 columns one by one.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    count: usize,
    first: f32,
    distances: f32,
    squares: f32,
    variances: f32,
}

impl Columns {
    fn push(&mut self, mean: f32, variance: f32) {
        if self.count == 0 {
            *self = Self { first: mean, variances: variance, ..Self::default() };
        } else {
            let distance = mean - self.first;
            self.distances += distance;
            self.squares += distance * distance;
            self.variances += variance;
        }
        self.count += 1;
    }

    fn block(&self) -> Block {
        let distance = self.distances * (1.0 / self.count as f32);
        let squares = self.squares - self.distances * distance;
        let squares = if squares < 0.0 { 0.0 } else { squares };
        Block { mean: self.first + distance, variances: self.variances + squares }
    }
}

/// The statistics of some matrices of equal shape.
pub(crate) struct MatrixMoments {
    arch: Arch,
    columns: Columns,
    /// Blocks of 32, 64, 128 columns and so on; a bit of `blocks` is set where there is one.
    tree: Vec<Block>,
    blocks: usize,
}

impl MatrixMoments {
    pub(crate) fn new(arch: Arch) -> Self {
        Self { arch, columns: Columns::default(), tree: Vec::new(), blocks: 0 }
    }

    /// Adds the statistics of the columns of a tile column, of which the first `used` count.
    pub(crate) fn push(&mut self, means: &[u32; SIDE], variances: &[u32; SIDE], used: usize, dst32: bool) {
        if dst32 && used == SIDE {
            let Block { mean, variances } = Block::of_tile(self.arch, means, variances);
            self.push_block(Block { mean, variances: f32::from_bits(store_f32(variances.to_bits())) });
            return;
        }
        let stored = |word| f32::from_bits(if dst32 { store_f32(word) } else { store_bf16(word) });
        for (&mean, &variance) in means.iter().zip(variances).take(used) {
            self.columns.push(stored(mean), stored(variance));
            if self.columns.count == SIDE {
                let block = self.columns.block();
                self.columns.count = 0;
                self.push_block(block);
            }
        }
    }

    fn push_block(&mut self, mut block: Block) {
        let (mut level, mut half) = (0, SIDE as f32 * 0.5);
        while self.blocks >> level & 1 == 1 {
            block = self.tree[level].joined(block, 0.5, half);
            (level, half) = (level + 1, half * 2.0);
        }
        self.tree.resize(self.tree.len().max(level + 1), Block::default());
        self.tree[level] = block;
        self.blocks += 1;
    }

    /// The sum of the variances of all columns times a factor, FP32 bits.
    pub(crate) fn variance(&self, factor: u32) -> u32 {
        let tail = (self.columns.count > 0).then(|| (self.columns.block(), self.columns.count));
        let levels = (0..self.tree.len()).filter(|level| self.blocks >> level & 1 == 1);
        let whole = levels.map(|level| (self.tree[level], SIDE << level));
        let all = whole.chain(tail).reduce(|(first, before), (second, count)| {
            let share = 1.0 / (before + count) as f32;
            let weight = before as f32 * count as f32 * share;
            (first.joined(second, count as f32 * share, weight), before + count)
        });
        (all.map_or(0.0, |(block, _)| block.variances) * f32::from_bits(factor)).to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics of so many columns of equal heights, in tile columns.
    fn variance(means: &[f32], variances: &[f32], dst32: bool) -> f32 {
        let mut moments = MatrixMoments::new(Arch::Wormhole);
        let bits = |numbers: &[f32]| {
            let mut words = [0; SIDE];
            words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_bits());
            words
        };
        for (means, variances) in means.chunks(SIDE).zip(variances.chunks(SIDE)) {
            moments.push(&bits(means), &bits(variances), means.len(), dst32);
        }
        f32::from_bits(moments.variance((1.0 / means.len() as f32).to_bits()))
    }

    #[test]
    fn small_integers_have_their_exact_variance() {
        for count in [1, 2, 31, 32, 64, 128, 256] {
            let means: Vec<f32> = (0..count).map(|index| if index % 2 == 0 { 3.0 } else { 5.0 }).collect();
            let variances = vec![2.0; count];
            let expected = if count % 2 == 0 { 3.0 } else { 2.0 + 1.0 - 1.0 / (count * count) as f32 };
            for dst32 in [false, true] {
                let result = variance(&means, &variances, dst32);
                assert!((result - expected).abs() < 1e-6, "{count} columns: {result}, not {expected}");
            }
        }
    }

    #[test]
    fn blocks_of_different_sizes_are_weighted() {
        // 96 + 7 columns: a tree of two levels and a tail.
        let means: Vec<f32> = (0..103).map(|index| (index * 37 % 101) as f32).collect();
        let mean = means.iter().sum::<f32>() / 103.0;
        let expected = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 103.0 + 0.5;
        for dst32 in [false, true] {
            let result = variance(&means, &vec![0.5; 103], dst32);
            assert!((result / expected - 1.0).abs() < 1e-5, "{result}, not {expected}");
        }
    }

    #[test]
    fn lanes_have_the_average_of_their_variances() {
        let means = std::array::from_fn(|lane| if lane % 2 == 0 { 1.0_f32 } else { 3.0 }.to_bits());
        assert_eq!(of_lanes(Arch::Wormhole, &means, &[0.5_f32.to_bits(); SIDE]), (2.0, 1.5));
    }

    #[test]
    fn a_tile_column_is_joined_in_the_order_of_lanes() {
        // 2^24 absorbs a 1 that is added to it, so that the sum shows its order.
        let mut lanes = [0.0_f32; SIDE];
        (lanes[0], lanes[8], lanes[1], lanes[9]) = (16_777_216.0, 1.0, 1.0, 1.0);
        let sum = f32::from_bits(Block::sum_of_lanes(Arch::Wormhole, &lanes.map(f32::to_bits)));
        assert_eq!(sum, 16_777_218.0);
    }
}
