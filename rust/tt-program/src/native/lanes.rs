//! Calls of kernels with single SFPU vector operations.
//!
//! They are recorded, and run before the next call of another kind.

use super::Native;
use super::table::calls;
use crate::error::{Fault, FaultKind};
use crate::state::Run;
use crate::vectors::{Binary, Compare, Constant, Id, Join, Table, Unary};

/// Most lines of a table.
const MOST_LINES: u32 = 6;

calls! { LANES:
    recording |run, device, kernel| {
        sfpi_word(word: u32) = run.record("sfpi", |lanes| Ok(lanes.word(word)));
        sfpi_constant(register: u32) = {
            let register = numbered(run, "constant", Constant::of(register))?;
            run.record("sfpi", |lanes| Ok(lanes.constant(register)))
        };
        sfpi_program(register: u32, value: u32) = {
            let register = numbered(run, "constant", Constant::of(register))?;
            run.own_constant(register);
            run.record("sfpi", |lanes| lanes.program(register, value))
        };
        sfpi_load(address: i32, memory: u32) = run.record_load(address, memory);
        sfpi_store(address: i32, memory: u32, value: u32) = run.record_store(address, memory, value);
        sfpi_multiply(a: u32, b: u32) = run.record("vFloat *", |lanes| lanes.multiply(a, b));
        sfpi_add(a: u32, b: u32) = run.record("vFloat +", |lanes| lanes.add(a, b));
        sfpi_subtract(a: u32, b: u32) = run.record("vFloat -", |lanes| lanes.subtract(a, b));
        sfpi_unary(function: u32, a: u32, stochastic: bool) = {
            let function = numbered(run, "function", Unary::of(function))?;
            run.record("sfpi", |lanes| lanes.unary(function, a, stochastic))
        };
        sfpi_binary(function: u32, a: u32, b: u32) = {
            let function = numbered(run, "function", Binary::of(function))?;
            run.record("sfpi", |lanes| lanes.binary(function, a, b))
        };
        sfpi_lines(table: u32, keep_sign: bool, v: u32, count: u32, lines: u32) =
            kernel.record_lines(run, table, (count, lines), v, keep_sign);
        sfpi_compare(compare: u32, a: u32, b: u32) = {
            let compare = numbered(run, "comparison", Compare::of(compare))?;
            run.record("a comparison of vectors", |lanes| lanes.compare(compare, a, b))
        };
        sfpi_join(join: u32, a: u32, b: u32) = {
            let join = numbered(run, "join", Join::of(join))?;
            run.record("v_if", |lanes| lanes.join(join, a, b))
        };
        sfpi_assign(before: u32, after: u32) = run.record("sfpi", |lanes| lanes.assign(before, after));
        sfpi_select(mask: u32, yes: u32, no: u32) = run.record("sfpi", |lanes| lanes.select(mask, yes, no));
        sfpi_begin() = run.record("v_if", |lanes| {
            lanes.begin();
            Ok(())
        });
        sfpi_narrow(mask: u32) = run.record("v_if", |lanes| lanes.narrow(mask));
        sfpi_otherwise() = {
            let inside = run.record("v_else", |lanes| Ok(lanes.otherwise()))?;
            require_condition(run, inside)
        };
        sfpi_end() = {
            let inside = run.record("v_endif", |lanes| Ok(lanes.end()))?;
            require_condition(run, inside)
        };
        sfpi_start(tile: u32) = run.start_lanes(tile);
        sfpi_advance(rows: i32) = run.advance_lanes(rows);
    }
}

/// What the header named by number.
fn numbered<T>(run: &Run, what: &str, found: Option<T>) -> Result<T, Fault> {
    found.ok_or_else(|| run.fault("sfpi", FaultKind::Argument(format!("a {what} of this number does not exist"))))
}

fn require_condition(run: &Run, inside: bool) -> Result<(), Fault> {
    if inside {
        return Ok(());
    }
    Err(run.fault("v_endif", FaultKind::Argument("there is no v_if around this place".to_owned())))
}

impl Native {
    fn record_lines(
        &self,
        run: &mut Run,
        table: u32,
        (count, lines): (u32, u32),
        v: Id,
        keep_sign: bool,
    ) -> Result<Id, Fault> {
        let table = numbered(run, "table", Table::of(table))?;
        let lines = self.words(lines, count.min(MOST_LINES)).map_err(|what| run.fault("lut", what))?;
        run.record("lut", |recorder| recorder.lines(table, lines, v, keep_sign))
    }
}
