//! Running what was recorded.

use tt_formats::{Arch, by_generation};
use tt_sfpu::VectorUnit;
use tt_sfpu::lane::{self, Lane, Word};

use super::operation::{Join, Memory, Operation, Table, Unary};
use super::record::{Recorder, Step, Value};
use super::{Id, LANES, Vector};

/// `Dst`, as vector operations see it.
pub(crate) trait Datums {
    /// The words of 32 datums.
    fn load(&mut self, address: u32, memory: Memory) -> Vector;
    /// Replaces those whose bit in the mask is set.
    fn store(&mut self, address: u32, memory: Memory, value: &Vector, mask: u32);
}

/// What running cost, or why it could not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Instructions of the unit.
    Instructions(u64),
    /// A result depends on the chip's random numbers.
    Stochastic,
}

impl Recorder {
    /// Runs everything that was recorded, on a generation.
    pub(crate) fn run(&mut self, arch: Arch, dst: &mut impl Datums) -> Outcome {
        by_generation!(arch, G => self.run_as::<G>(dst))
    }

    fn run_as<G: VectorUnit>(&mut self, dst: &mut impl Datums) -> Outcome {
        let steps = std::mem::take(&mut self.steps);
        let base = self.first + self.values.len() as Id;
        let fused = fused_products(&steps, base, G::NEGATES_FACTORS);
        let (mut instructions, mut outcome) = (0, None);
        for (step, &part) in steps.iter().zip(&fused) {
            if part {
                self.values.push(Value::Nothing);
                continue;
            }
            instructions += step.operation.instructions();
            match self.value::<G>(&step.operation, (&steps, &fused, base), dst) {
                Ok(value) => self.values.push(value),
                Err(stop) => {
                    self.values.push(Value::Nothing);
                    outcome = outcome.or(Some(stop));
                }
            }
        }
        // Masks of a condition that goes on are needed still.
        if !self.in_condition() {
            self.values.drain(..(base - self.first) as usize);
            self.first = base;
        }
        outcome.unwrap_or(Outcome::Instructions(instructions))
    }

    fn vector(&self, id: Id) -> Vector {
        match self.values.get((id - self.first) as usize) {
            Some(Value::Vector(vector)) => *vector,
            _ => [0; LANES],
        }
    }

    fn mask(&self, id: Id) -> u32 {
        match self.values.get((id - self.first) as usize) {
            Some(Value::Mask(mask)) => *mask,
            _ => 0,
        }
    }

    /// The factors of a product that is part of a sum; of a negated one, the first with its sign turned.
    fn factors(&self, id: Id, recorded: (&[Step], &[bool], Id)) -> Option<(Vector, Vector)> {
        let (steps, fused, base) = recorded;
        let place = id.checked_sub(base)? as usize;
        match steps.get(place)?.operation {
            Operation::Multiply(a, b) if fused[place] => Some((self.vector(a), self.vector(b))),
            Operation::Unary { function: Unary::Negate, a, .. } if fused[place] => {
                let (a, b) = self.factors(a, recorded)?;
                Some((a.map(lane::flipsign), b))
            }
            _ => None,
        }
    }

    fn value<G: VectorUnit>(
        &mut self,
        operation: &Operation,
        recorded: (&[Step], &[bool], Id),
        dst: &mut impl Datums,
    ) -> Result<Value, Outcome> {
        let mad = |a: u32, b: u32, c: u32| Word::<G>::from(a).mad(Word::from(b), Word::from(c)).bits;
        let value = match *operation {
            Operation::Word(word) => [word; LANES],
            Operation::Constant(register) => self.constants[register as usize],
            Operation::Load { address, memory } => dst.load(address, memory),
            Operation::Store { address, memory, value, mask } => {
                let mask = mask.map_or(u32::MAX, |mask| self.mask(mask));
                dst.store(address, memory, &self.vector(value), mask);
                return Ok(Value::Nothing);
            }
            Operation::Program { register, value } => {
                self.constants[register as usize] = self.vector(value);
                return Ok(Value::Nothing);
            }
            Operation::Multiply(a, b) => {
                let (a, b) = (self.vector(a), self.vector(b));
                lanes(|i| mad(a[i], b[i], 0))
            }
            Operation::Add(a, b) => {
                let product = [(a, b), (b, a)].into_iter().find_map(|(a, b)| Some((self.factors(a, recorded)?, b)));
                if let Some(((x, y), other)) = product {
                    let z = self.vector(other);
                    lanes(|i| mad(x[i], y[i], z[i]))
                } else {
                    let (a, b) = (self.vector(a), self.vector(b));
                    lanes(|i| Word::<G>::from(a[i]).plus(Word::from(b[i])).bits)
                }
            }
            Operation::Subtract(a, b) => {
                let z = self.vector(b);
                if let Some((x, y)) = self.factors(a, recorded) {
                    lanes(|i| mad(x[i], y[i], lane::flipsign(z[i])))
                } else if let Some((x, y)) = self.factors(b, recorded) {
                    let a = self.vector(a);
                    lanes(|i| mad(lane::flipsign(x[i]), y[i], a[i]))
                } else {
                    let a = self.vector(a);
                    lanes(|i| Word::<G>::from(a[i]).minus(Word::from(z[i])).bits)
                }
            }
            Operation::Unary { function, a, stochastic } => {
                let a = self.vector(a);
                if stochastic && a.iter().any(|&word| function.is_inexact(word)) {
                    return Err(Outcome::Stochastic);
                }
                lanes(|i| function.lane(a[i]))
            }
            Operation::Binary(function, a, b) => {
                let (a, b) = (self.vector(a), self.vector(b));
                lanes(|i| function.lane(a[i], b[i]))
            }
            Operation::Lines { table, ref lines, v, keep_sign } => {
                let words: Vec<Vector> = lines.iter().map(|&id| self.vector(id)).collect();
                let v = self.vector(v);
                lanes(|i| {
                    let word = |line: usize| words.get(line).map_or(0, |word| word[i]);
                    let result = match table {
                        Table::Bytes => lane::lut8([0, 1, 2].map(word), v[i]),
                        Table::Halves => lane::lut16([0, 1, 2].map(word), [3, 4, 5].map(word), v[i]),
                    };
                    if keep_sign { lane::setsign(result, v[i]) } else { result }
                })
            }
            Operation::Select { mask, yes, no } => {
                let (mask, yes, no) = (self.mask(mask), self.vector(yes), self.vector(no));
                lanes(|i| if mask >> i & 1 == 1 { yes[i] } else { no[i] })
            }
            Operation::Compare(compare, a, b) => {
                let (a, b) = (self.vector(a), self.vector(b));
                let bits = (0..LANES).map(|i| u32::from(compare.lane::<G>(a[i], b[i])) << i);
                return Ok(Value::Mask(bits.fold(0, |mask, bit| mask | bit)));
            }
            Operation::Join(join, a, b) => {
                return Ok(Value::Mask(match join {
                    Join::And => self.mask(a) & self.mask(b),
                    Join::Or => self.mask(a) | self.mask(b),
                    Join::Not => !self.mask(a),
                }));
            }
        };
        Ok(Value::Vector(value))
    }
}

fn lanes(word: impl Fn(usize) -> u32) -> Vector {
    std::array::from_fn(word)
}

/// Which products become one multiply-add with a sum: they have no other use, and no condition changes in between. The
/// first operand of a sum is tried first; of a difference it is the only one, unless the unit turns signs: then also the
/// second, and products whose sign an operation turns, which is part of the sum as well.
fn fused_products(steps: &[Step], base: Id, negates: bool) -> Vec<bool> {
    let mut uses = vec![0_u32; steps.len()];
    for id in steps.iter().flat_map(|step| step.operation.operands()) {
        if let Some(count) = id.checked_sub(base).and_then(|place| uses.get_mut(place as usize)) {
            *count += 1;
        }
    }
    let mut fused = vec![false; steps.len()];
    for step in steps {
        let candidates = match step.operation {
            Operation::Add(a, b) => [Some(a), Some(b)],
            Operation::Subtract(a, b) => [Some(a), negates.then_some(b)],
            _ => continue,
        };
        let places = candidates.into_iter().flatten().filter_map(|id| id.checked_sub(base)).map(|id| id as usize);
        let only_use = |place: usize| steps.get(place).filter(|part| part.line == step.line && uses[place] == 1);
        let is_product = |place| only_use(place).is_some_and(|part| matches!(part.operation, Operation::Multiply(..)));
        // A product, or the turned sign of one.
        let parts = places.into_iter().find_map(|place| match only_use(place)?.operation {
            Operation::Multiply(..) => Some([place, place]),
            Operation::Unary { function: Unary::Negate, a, .. } if negates => {
                let product = a.checked_sub(base)? as usize;
                is_product(product).then_some([place, product])
            }
            _ => None,
        });
        for place in parts.into_iter().flatten() {
            fused[place] = true;
        }
    }
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::operation::{Binary, Compare};
    use crate::vectors::{Unary, Unrecorded};

    struct Rows(Vec<u32>);

    impl Datums for Rows {
        fn load(&mut self, address: u32, _: Memory) -> Vector {
            lanes(|i| self.0[address as usize * 16 + i])
        }

        fn store(&mut self, address: u32, _: Memory, value: &Vector, mask: u32) {
            for i in (0..LANES).filter(|i| mask >> i & 1 == 1) {
                self.0[address as usize * 16 + i] = value[i];
            }
        }
    }

    /// 1 + 2^-12, whose square needs more bits than a float32 has.
    const ROUGH: u32 = 0x3f80_0800;

    fn result(build: impl FnOnce(&mut Recorder, Id) -> Result<Id, Unrecorded>) -> Result<(u32, u64), Unrecorded> {
        result_on(Arch::Wormhole, build)
    }

    fn result_on(
        arch: Arch,
        build: impl FnOnce(&mut Recorder, Id) -> Result<Id, Unrecorded>,
    ) -> Result<(u32, u64), Unrecorded> {
        let mut recorder = Recorder::new();
        let mut dst = Rows(vec![ROUGH; 1024]);
        let x = recorder.load(0, Memory::Float);
        let value = build(&mut recorder, x)?;
        recorder.store(2, Memory::Float, value)?;
        let Outcome::Instructions(count) = recorder.run(arch, &mut dst) else { panic!("stochastic") };
        Ok((dst.0[32], count))
    }

    #[test]
    fn a_product_with_one_use_is_fused_into_a_sum() -> Result<(), Unrecorded> {
        let square = ROUGH.times(ROUGH);
        let minus_one = 0xbf80_0000;
        let (fused, unfused) = (ROUGH.mad(ROUGH, minus_one), square.plus(minus_one));
        assert_ne!(fused, unfused);
        let sum = result(|r, x| {
            let (product, one) = (r.multiply(x, x)?, r.word(minus_one));
            r.add(product, one)
        })?;
        assert_eq!(sum, (fused, 4));
        let second = result(|r, x| {
            let (one, product) = (r.word(minus_one), r.multiply(x, x)?);
            r.add(one, product)
        })?;
        assert_eq!(second.0, fused);
        let difference = result(|r, x| {
            let (product, one) = (r.multiply(x, x)?, r.word(0x3f80_0000));
            r.subtract(product, one)
        })?;
        assert_eq!(difference.0, fused);
        Ok(())
    }

    #[test]
    fn a_product_with_two_uses_or_behind_a_condition_or_taken_away_is_rounded() -> Result<(), Unrecorded> {
        let square = ROUGH.times(ROUGH);
        let twice = result(|r, x| {
            let (product, one) = (r.multiply(x, x)?, r.word(0xbf80_0000));
            let sum = r.add(product, one)?;
            r.binary(Binary::Maximum, sum, product)
        })?;
        assert_eq!(twice.0, square);
        let unfused = square.plus(0xbf80_0000);
        let condition = result(|r, x| {
            let (product, one) = (r.multiply(x, x)?, r.word(0xbf80_0000));
            r.begin();
            let mask = r.compare(Compare::Equal, x, x)?;
            r.narrow(mask)?;
            let sum = r.add(product, one)?;
            let value = r.assign(x, sum)?;
            assert!(r.end());
            Ok(value)
        })?;
        assert_eq!(condition.0, unfused);
        let away = result(|r, x| {
            let (one, product) = (r.word(0x3f80_0000), r.multiply(x, x)?);
            r.subtract(one, product)
        })?;
        assert_eq!(away.0, 0x3f80_0000_u32.minus(square));
        Ok(())
    }

    #[test]
    fn blackhole_fuses_products_that_are_taken_away() -> Result<(), Unrecorded> {
        let one = 0x3f80_0000;
        let fused = tt_sfpu::fma(ROUGH | 1 << 31, ROUGH, one, Arch::Blackhole);
        let rounded = tt_sfpu::fma(ROUGH, ROUGH, 0, Arch::Blackhole);
        assert_ne!(fused, tt_sfpu::fma(one, one, rounded | 1 << 31, Arch::Blackhole));
        let away = result_on(Arch::Blackhole, |r, x| {
            let (one, product) = (r.word(one), r.multiply(x, x)?);
            r.subtract(one, product)
        })?;
        assert_eq!(away, (fused, 4), "load, word, multiply-add, store");
        let negated = result_on(Arch::Blackhole, |r, x| {
            let product = r.multiply(x, x)?;
            let (negated, one) = (r.unary(Unary::Negate, product, false)?, r.word(one));
            r.add(negated, one)
        })?;
        assert_eq!(negated, (fused, 4), "the sign is part of the multiply-add");
        let two_uses = result_on(Arch::Blackhole, |r, x| {
            let product = r.multiply(x, x)?;
            let (negated, one) = (r.unary(Unary::Negate, product, false)?, r.word(one));
            let sum = r.add(negated, one)?;
            r.binary(Binary::Maximum, sum, negated)
        })?;
        assert_eq!(two_uses.0, tt_sfpu::fma(one, rounded | 1 << 31, one, Arch::Blackhole));
        Ok(())
    }

    #[test]
    fn conditions_nest_and_choose_lanes() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        let mut dst = Rows((0..1024).map(|word| (word as f32 - 16.0).to_bits()).collect());
        let x = recorder.load(0, Memory::Float);
        let mut y = recorder.word(0);
        let (zero, eight) = (recorder.word(0), recorder.word(8_f32.to_bits()));
        let words: Vec<Id> = (1..5).map(|word| recorder.word(word)).collect();
        recorder.begin();
        let below = recorder.compare(Compare::Less, x, zero)?;
        recorder.narrow(below)?;
        y = recorder.assign(y, words[0])?;
        assert!(recorder.otherwise());
        recorder.begin();
        let small = recorder.compare(Compare::Less, x, eight)?;
        recorder.narrow(small)?;
        y = recorder.assign(y, words[1])?;
        assert!(recorder.otherwise());
        y = recorder.assign(y, words[2])?;
        assert!(recorder.end() && recorder.end() && !recorder.end());
        recorder.store(8, Memory::Word, y)?;
        recorder.run(Arch::Wormhole, &mut dst);
        for lane in 0..LANES {
            let expected = if lane < 16 {
                1
            } else if lane < 24 {
                2
            } else {
                3
            };
            assert_eq!(dst.0[128 + lane], expected, "lane {lane}");
        }
        Ok(())
    }

    #[test]
    fn rounding_by_chance_is_refused_where_it_rounds() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        for (word, outcome) in [(0x3f80_0000, Outcome::Instructions(2)), (0x3f80_0001, Outcome::Stochastic)] {
            let value = recorder.word(word);
            recorder.unary(Unary::RoundBf16, value, true)?;
            let found = recorder.run(Arch::Wormhole, &mut Rows(vec![0; 1024]));
            assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&outcome));
        }
        Ok(())
    }

    #[test]
    fn results_of_long_ago_are_gone() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        let old = recorder.word(1);
        recorder.run(Arch::Wormhole, &mut Rows(Vec::new()));
        recorder.unary(Unary::Not, old, false)?;
        recorder.run(Arch::Wormhole, &mut Rows(Vec::new()));
        assert!(recorder.unary(Unary::Not, old, false).is_err());
        assert!(recorder.unary(Unary::Not, 1 << 30, false).is_err());
        Ok(())
    }

    #[test]
    fn masks_are_found_by_their_numbers_after_earlier_runs() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        let mut dst = Rows((0..1024).map(|word| (word as f32).to_bits()).collect());
        for first in [0, 0, 1] {
            assert_eq!(recorder.first, first);
            recorder.word(7);
            recorder.run(Arch::Wormhole, &mut dst);
        }
        let (x, four) = (recorder.load(0, Memory::Float), recorder.word(4_f32.to_bits()));
        let nine = recorder.word(9_f32.to_bits());
        let (small, large) = (recorder.compare(Compare::Less, x, four)?, recorder.compare(Compare::Greater, x, nine)?);
        let either = recorder.join(Join::Or, small, large)?;
        let neither = recorder.join(Join::Not, either, either)?;
        let chosen = recorder.select(neither, x, nine)?;
        recorder.store(8, Memory::Float, chosen)?;
        recorder.run(Arch::Wormhole, &mut dst);
        let found: Vec<f32> = dst.0[128..140].iter().map(|&word| f32::from_bits(word)).collect();
        assert_eq!(found, [9.0, 9.0, 9.0, 9.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.0, 9.0]);
        Ok(())
    }

    #[test]
    fn inside_a_condition_results_are_kept_and_new_ones_are_numbered_on() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        let mut dst = Rows((0..1024).map(|word| (word as f32).to_bits()).collect());
        recorder.word(7);
        recorder.run(Arch::Wormhole, &mut dst);
        let (x, four) = (recorder.load(0, Memory::Float), recorder.word(4_f32.to_bits()));
        recorder.begin();
        let small = recorder.compare(Compare::Less, x, four)?;
        recorder.narrow(small)?;
        recorder.run(Arch::Wormhole, &mut dst);
        assert_eq!((recorder.first, recorder.values.len(), recorder.len()), (0, 4, 0));
        // One of what is new: the product is recognised as none.
        let one = recorder.word(1_f32.to_bits());
        assert_eq!((one, recorder.multiply(x, one)?), (4, x));
        assert!(recorder.step(small).is_none() && recorder.step(one).is_some());
        let square = recorder.multiply(x, x)?;
        let sum = recorder.add(square, four)?;
        recorder.store(4, Memory::Float, sum)?;
        assert_eq!(recorder.run(Arch::Wormhole, &mut dst), Outcome::Instructions(3), "word, multiply-add, store");
        assert!(recorder.end());
        recorder.run(Arch::Wormhole, &mut dst);
        assert_eq!((recorder.first, recorder.values.len()), (8, 0), "outside they are forgotten");
        let found: Vec<f32> = dst.0[64..70].iter().map(|&word| f32::from_bits(word)).collect();
        assert_eq!(found, [4.0, 5.0, 8.0, 13.0, 68.0, 69.0], "four lanes");
        Ok(())
    }
}
