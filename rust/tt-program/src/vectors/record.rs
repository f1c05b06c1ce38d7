//! Recording: results get numbers, conditions become masks.

use super::operation::{Binary, Compare, Constant, Join, Memory, Operation, Table, Unary};
use super::{Id, Vector};

const ONE: u32 = 0x3f80_0000;
const MINUS_ONE: u32 = 0xbf80_0000;

/// A recorded operation, and the straight line of instructions that it belongs to: conditions end one.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) line: u32,
}

/// What an operation gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Vector(Vector),
    /// A bit per lane.
    Mask(u32),
    /// Part of a multiply-add, or nothing at all.
    Nothing,
}

/// A result was asked for that there is not, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unrecorded(pub(crate) Id);

/// The vector operations of a kernel that have not been run, and the results of those before.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(super) steps: Vec<Step>,
    /// Number of the first result that is kept, and the results from there on.
    pub(super) first: Id,
    pub(super) values: Vec<Value>,
    pub(super) constants: [Vector; 8],
    /// Lanes that are enabled outside of each condition around this place; `None`: all.
    saved: Vec<Option<Id>>,
    enabled: Option<Id>,
    line: u32,
    /// Row of `Dst` that address 0 means.
    pub(crate) row: u32,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let mut constants = [0, 0, ONE, MINUS_ONE, 0, 0, 0, 0].map(|word| [word; super::LANES]);
        constants[Constant::Close as usize] = [0x3f56_594b; super::LANES];
        constants[Constant::LaneNumber as usize] = std::array::from_fn(|lane| 2 * lane as u32);
        Self {
            steps: Vec::new(),
            first: 0,
            values: Vec::new(),
            constants,
            saved: Vec::new(),
            enabled: None,
            line: 0,
            row: 0,
        }
    }

    /// Whether nothing waits to be run.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many operations wait.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether the kernel is inside a condition.
    pub(super) fn in_condition(&self) -> bool {
        !self.saved.is_empty()
    }

    fn next(&self) -> Id {
        self.first + (self.values.len() + self.steps.len()) as Id
    }

    fn push(&mut self, operation: Operation) -> Id {
        let id = self.next();
        self.steps.push(Step { operation, line: self.line });
        id
    }

    /// The operation of a result that has not been run.
    pub(super) fn step(&self, id: Id) -> Option<&Step> {
        self.steps.get(id.checked_sub(self.first + self.values.len() as Id)? as usize)
    }

    fn known(&self, ids: &[Id]) -> Result<(), Unrecorded> {
        let missing = ids.iter().find(|&&id| id < self.first || id >= self.next());
        missing.map_or(Ok(()), |&id| Err(Unrecorded(id)))
    }

    fn checked(&mut self, operation: Operation) -> Result<Id, Unrecorded> {
        self.known(&operation.operands())?;
        Ok(self.push(operation))
    }

    /// The same word in all lanes.
    pub(crate) fn word(&mut self, word: u32) -> Id {
        self.push(Operation::Word(word))
    }

    /// A constant register.
    pub(crate) fn constant(&mut self, register: Constant) -> Id {
        self.push(Operation::Constant(register))
    }

    /// Sets a programmable constant, as an init of built-in functions does.
    pub(crate) fn set_constant(&mut self, register: usize, word: u32) {
        if let Some(constant) = self.constants.get_mut(Constant::Program1 as usize + register) {
            *constant = [word; super::LANES];
        }
    }

    /// Fills a constant register.
    pub(crate) fn program(&mut self, register: Constant, value: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Program { register, value })
    }

    /// 32 datums of `Dst`.
    pub(crate) fn load(&mut self, address: u32, memory: Memory) -> Id {
        self.push(Operation::Load { address: self.row.wrapping_add(address), memory })
    }

    /// Puts the enabled lanes of a vector there.
    pub(crate) fn store(&mut self, address: u32, memory: Memory, value: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Store { address: self.row.wrapping_add(address), memory, value, mask: self.enabled })
    }

    /// Whether all lanes of a result are this word, as far as the compiler can see.
    fn is_word(&self, id: Id, word: u32) -> bool {
        match self.step(id).map(|step| &step.operation) {
            Some(&Operation::Word(held)) => held == word,
            Some(&Operation::Constant(Constant::One)) => word == ONE,
            _ => false,
        }
    }

    /// Product. One times a vector is the vector, minus one times it is a change of sign.
    pub(crate) fn multiply(&mut self, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.known(&[a, b])?;
        for (factor, other) in [(a, b), (b, a)] {
            if self.is_word(factor, ONE) {
                return Ok(other);
            }
            if self.is_word(factor, MINUS_ONE) {
                return self.unary(Unary::Negate, other, false);
            }
        }
        self.checked(Operation::Multiply(a, b))
    }

    /// Sum.
    pub(crate) fn add(&mut self, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Add(a, b))
    }

    /// Difference.
    pub(crate) fn subtract(&mut self, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Subtract(a, b))
    }

    /// A function of one vector.
    pub(crate) fn unary(&mut self, function: Unary, a: Id, stochastic: bool) -> Result<Id, Unrecorded> {
        self.checked(Operation::Unary { function, a, stochastic })
    }

    /// A function of two vectors.
    pub(crate) fn binary(&mut self, function: Binary, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Binary(function, a, b))
    }

    /// Straight lines of a table.
    pub(crate) fn lines(&mut self, table: Table, lines: Vec<Id>, v: Id, keep_sign: bool) -> Result<Id, Unrecorded> {
        self.checked(Operation::Lines { table, lines, v, keep_sign })
    }

    /// A comparison: a mask.
    pub(crate) fn compare(&mut self, compare: Compare, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Compare(compare, a, b))
    }

    /// Masks joined.
    pub(crate) fn join(&mut self, join: Join, a: Id, b: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Join(join, a, b))
    }

    /// What a variable holds after an assignment: enabled lanes take the new value.
    pub(crate) fn assign(&mut self, old: Id, new: Id) -> Result<Id, Unrecorded> {
        self.known(&[old, new])?;
        match self.enabled {
            None => Ok(new),
            Some(mask) => self.checked(Operation::Select { mask, yes: new, no: old }),
        }
    }

    /// One of two vectors by a mask.
    pub(crate) fn select(&mut self, mask: Id, yes: Id, no: Id) -> Result<Id, Unrecorded> {
        self.checked(Operation::Select { mask, yes, no })
    }

    /// A condition begins.
    pub(crate) fn begin(&mut self) {
        self.line += 1;
        self.saved.push(self.enabled);
    }

    /// Enables those lanes only whose bit in the mask is set.
    pub(crate) fn narrow(&mut self, mask: Id) -> Result<(), Unrecorded> {
        self.known(&[mask])?;
        self.line += 1;
        self.enabled = Some(match self.enabled {
            None => mask,
            Some(enabled) => self.push(Operation::Join(Join::And, enabled, mask)),
        });
        Ok(())
    }

    /// Enables the lanes that the innermost condition has left out. `false`: there is no condition.
    pub(crate) fn otherwise(&mut self) -> bool {
        let Some(&outer) = self.saved.last() else { return false };
        self.line += 1;
        let Some(enabled) = self.enabled else { return true };
        let others = self.push(Operation::Join(Join::Not, enabled, enabled));
        self.enabled = Some(match outer {
            None => others,
            Some(outer) => self.push(Operation::Join(Join::And, outer, others)),
        });
        true
    }

    /// The innermost condition ends. `false`: there is none.
    pub(crate) fn end(&mut self) -> bool {
        let Some(outer) = self.saved.pop() else { return false };
        self.line += 1;
        self.enabled = outer;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(recorder: &Recorder, id: Id) -> Option<&Operation> {
        recorder.step(id).map(|step| &step.operation)
    }

    #[test]
    fn products_with_one_are_no_products() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        let x = recorder.load(0, Memory::Float);
        let [one, minus_one, two] = [ONE, MINUS_ONE, 0x4000_0000].map(|word| recorder.word(word));
        let register = recorder.constant(Constant::One);
        let close = recorder.constant(Constant::Close);
        for factor in [one, register] {
            assert_eq!((recorder.multiply(x, factor)?, recorder.multiply(factor, x)?), (x, x));
        }
        for (a, b) in [(x, minus_one), (minus_one, x)] {
            let id = recorder.multiply(a, b)?;
            let negated = Operation::Unary { function: Unary::Negate, a: x, stochastic: false };
            assert_eq!(operation(&recorder, id), Some(&negated));
        }
        for factor in [two, close, x] {
            let id = recorder.multiply(x, factor)?;
            assert_eq!(operation(&recorder, id), Some(&Operation::Multiply(x, factor)));
        }
        let product = recorder.multiply(x, x)?;
        assert_eq!((recorder.len(), recorder.is_empty()), (product as usize + 1, false));
        assert_eq!(recorder.multiply(x, product + 1), Err(Unrecorded(product + 1)));
        assert_eq!(operation(&recorder, product + 1), None);
        Ok(())
    }

    #[test]
    fn addresses_count_from_the_row_and_conditions_end_lines() -> Result<(), Unrecorded> {
        let mut recorder = Recorder::new();
        recorder.row = 64;
        let x = recorder.load(2, Memory::Word);
        assert_eq!(operation(&recorder, x), Some(&Operation::Load { address: 66, memory: Memory::Word }));
        assert!(!recorder.otherwise() && !recorder.end() && !recorder.in_condition());
        let lines = |recorder: &Recorder| recorder.steps.iter().map(|step| step.line).collect::<Vec<_>>();
        recorder.begin();
        assert!(recorder.in_condition());
        let mask = recorder.compare(Compare::Less, x, x)?;
        recorder.narrow(mask)?;
        let stored = recorder.store(4, Memory::Word, x)?;
        let store = |mask| Operation::Store { address: 68, memory: Memory::Word, value: x, mask };
        assert_eq!(operation(&recorder, stored), Some(&store(Some(mask))));
        // A second condition holds in addition.
        recorder.narrow(mask)?;
        let both = recorder.store(4, Memory::Word, x)?;
        assert_eq!(operation(&recorder, both), Some(&store(Some(both - 1))));
        assert_eq!(operation(&recorder, both - 1), Some(&Operation::Join(Join::And, mask, mask)));
        assert!(recorder.otherwise());
        let others = recorder.assign(x, x)?;
        assert_eq!(operation(&recorder, others), Some(&Operation::Select { mask: others - 1, yes: x, no: x }));
        assert!(recorder.end());
        assert_eq!(recorder.assign(x, stored)?, stored, "outside of a condition the new value");
        let last = recorder.store(4, Memory::Word, x)?;
        assert_eq!(operation(&recorder, last), Some(&store(None)));
        assert_eq!(lines(&recorder), [0, 1, 2, 3, 3, 4, 4, 5]);
        Ok(())
    }
}
