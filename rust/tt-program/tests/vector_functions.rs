//! Functions of the SFPU on tiles of `Dst`.
//!
//! What must be set up, which faces and tiles they change, and their cycles.

mod programs;

use programs::{COMPUTE, Program, mistake};
use tt_formats::DataFormat;
use tt_fpu::{Broadcast, EltwiseOp};
use tt_memory::Device;
use tt_memory::chip::N150;
use tt_perf::Costs;
use tt_program::calls::compute::{Copying, Math, VectorCall};
use tt_program::spec::{ComputeConfig, Risc};
use tt_program::state::compute::setups::Init;
use tt_program::{FaultKind, Run};
use tt_tensix::pack::DstFormat;

const READER: usize = 0;
const COMPUTES: usize = 1;
/// The bit of a mode that says: on the packer's thread.
const ON_PACK: u32 = 4;

const ONE: u16 = 0x3f80;
const TWO: u16 = 0x4000;
const THREE: u16 = 0x4040;
const MINUS_TWO: u16 = 0xc000;

fn function(function: (&str, &str), tiles: u32, parameters: &[u32], makes: Option<DstFormat>) -> VectorCall {
    let names = (format!("{}_tile", function.0), format!("{}_tile_init", function.0));
    VectorCall::new((&names.0, &names.1), function, tiles, parameters, makes).expect("a function")
}

/// `Dst` with tiles that hold -2, 1 and 3, which math has acquired.
fn program(dst32: bool) -> Program {
    let config = ComputeConfig { dst32, ..COMPUTE };
    let mut program = Program::configured(&N150, &[(0, Risc::Ncrisc), (0, Risc::Trisc)], &config);
    program.push_words(READER, 4, &[MINUS_TWO, ONE, THREE].map(|word| vec![word; 1024]).concat());
    program.by(COMPUTES, |run, device| {
        run.cb_wait_front(4, 3).expect("tiles");
        run.hw_startup(4, 4, 3).expect("units");
        run.init_math(Math::Copy(Copying::Plain), &[4]).expect("an operation");
        run.tile_regs_acquire().expect("Dst");
        (0..3).for_each(|tile| run.copy_tile(device, Copying::Plain, 4, tile, tile).expect("a copy"));
        run.kernels[COMPUTES].clocks = [0; 3];
    });
    program
}

/// Packs a tile of `Dst` and returns its words, face by face.
fn packed(program: &mut Program, dst: u32) -> Vec<u16> {
    let out = program.cb(3);
    program.by(COMPUTES, |run, device| {
        run.cb_reserve_back(3, 1).expect("a page");
        run.pack_tile(device, dst, 3, Some(0)).expect("a pack");
    });
    program.words(out, 1024)
}

/// The words of the faces of a tile, each of which holds one.
fn faces(words: [u16; 4]) -> Vec<u16> {
    words.map(|word| vec![word; 256]).concat()
}

fn to_packer(program: &mut Program) {
    program.by(COMPUTES, |run, _| {
        run.tile_regs_commit().expect("Dst");
        run.tile_regs_wait().expect("Dst");
    });
}

fn tile_cycles(name: &str, approximate: bool, wide: bool) -> u64 {
    Costs::of(N150.arch).sfpu.tile(name, approximate, wide).expect("a cost").cycles()
}

#[test]
fn a_function_needs_its_own_init_or_any_if_that_sets_nothing() {
    let mut program = program(false);
    let relu = function(("relu", "relu"), 1, &[], None);
    let gtz = function(("gtz", "default"), 1, &[], None);
    let fill = function(("fill", ""), 1, &[0], None);
    program.by(COMPUTES, |run, _| {
        let missing = |name: &str, state: &str| FaultKind::MissingInit {
            missing: format!("{name}_init before {name}"),
            state: state.to_owned(),
        };
        assert_eq!(mistake(run.vector(&relu, [0; 3], 0, 0)), missing("relu_tile", "the SFPU was never set up"));
        run.vector_init(&fill, 0).expect("an init");
        run.vector(&relu, [0; 3], 0, 0).expect("a function whose init sets nothing");
        let said = "the SFPU was last set up by fill_tile_init";
        assert_eq!(mistake(run.vector(&gtz, [0; 3], 0, 0)), missing("gtz_tile", said));
        run.vector_init(&relu, 0).expect("an init");
        run.vector(&relu, [0; 3], 0, 0).expect("a function");
        // The name of the init counts, not who wrote it.
        let mut other = relu.clone();
        other.init = Init::new("relu_tile_init");
        run.vector(&other, [0; 3], 0, 0).expect("a function");
        run.vector_init(&other, 0).expect("an init");
        run.vector(&relu, [0; 3], 0, 0).expect("a function");
    });
}

#[test]
fn a_mode_says_which_faces_and_which_thread() {
    let init = Costs::of(N150.arch).compute.init;
    let cycles = tile_cycles("relu", false, false);
    let relu = function(("relu", "relu"), 1, &[], None);
    for (mode, changed, quarters) in
        [(0, [true; 4], 4), (1, [true, true, false, false], 2), (2, [true, false, true, false], 2)]
    {
        for on_pack in [0, ON_PACK] {
            let mut program = program(false);
            if on_pack != 0 {
                to_packer(&mut program);
            }
            program.by(COMPUTES, |run, _| {
                run.kernels[COMPUTES].clocks = [0; 3];
                run.vector_init(&relu, on_pack).expect("an init");
                let thread = if on_pack == 0 { 1 } else { 2 };
                let mut clocks = [0; 3];
                clocks[thread] = init;
                assert_eq!(run.kernels[COMPUTES].clocks, clocks);
                run.vector(&relu, [0; 3], 0, mode | on_pack).expect("a function");
                clocks[thread] += cycles * quarters / 4;
                assert_eq!(run.kernels[COMPUTES].clocks, clocks, "mode {mode}");
            });
            if on_pack == 0 {
                to_packer(&mut program);
            }
            let expected = changed.map(|changed| if changed { 0 } else { MINUS_TWO });
            assert_eq!(packed(&mut program, 0), faces(expected), "mode {mode}");
            assert_eq!(packed(&mut program, 1), faces([ONE; 4]), "another tile");
        }
    }
    let mut program = program(false);
    program.by(COMPUTES, |run, _| {
        run.vector_init(&relu, 0).expect("an init");
        assert_eq!(mistake(run.vector(&relu, [0; 3], 0, 3)), FaultKind::Argument("vector mode 3".to_owned()));
        assert_eq!(mistake(run.vector(&relu, [3; 3], 3, 0)), FaultKind::DstUnwritten { index: 3 });
        assert_eq!(mistake(run.vector(&relu, [0; 3], 0, ON_PACK)), FaultKind::PackWithoutWait);
        let beyond = FaultKind::DstIndex { index: 8, capacity: 8, why: "16-bit datums, half sync" };
        assert_eq!(mistake(run.vector(&relu, [8; 3], 8, 0)), beyond);
        run.tile_regs_commit().expect("Dst");
        assert_eq!(mistake(run.vector(&relu, [0; 3], 0, 0)), FaultKind::NotAcquired);
    });
}

/// What is in tiles 0 to 3 after a function of tiles 0, 1 and 2 whose result goes to tile 3.
fn result(call: &VectorCall) -> [Vec<u16>; 4] {
    let mut program = program(false);
    program.by(COMPUTES, |run, _| {
        run.vector_init(call, 0).expect("an init");
        run.vector(call, [0, 1, 2], 3, 0).expect("a function");
    });
    to_packer(&mut program);
    [0, 1, 2, 3].map(|tile| packed(&mut program, tile))
}

#[test]
fn results_of_several_tiles_go_where_the_call_says() {
    let kept = [MINUS_TWO, ONE, THREE].map(|word| faces([word; 4]));
    for (call, expected) in [
        (function(("sub_binary", "default"), 2, &[], None), 0xc040),
        (function(("rsub_binary", "default"), 2, &[], None), THREE),
        (function(("mac", "default"), 3, &[], None), ONE),
        (function(("copy", ""), 2, &[], None), MINUS_TWO),
        (function(("fill", ""), 1, &[u32::from(TWO) << 16 | 0xffff], None), TWO),
    ] {
        let [first, second, third, made] = result(&call);
        assert_eq!([first, second, third], kept, "operands stay: {}", call.name);
        assert_eq!(made, faces([expected; 4]), "{}", call.name);
    }
}

#[test]
fn what_a_function_makes_decides_what_may_follow() {
    let wide_fill = |makes| function(("fill", ""), 1, &[7], makes);
    let fill = |program: &mut Program, call: &VectorCall| {
        program.by(COMPUTES, |run, _| {
            run.vector_init(call, 0).expect("an init");
            run.vector(call, [0; 3], 0, 0)
        })
    };
    let needs = FaultKind::NeedsWideDst { format: DataFormat::Int32 };
    assert_eq!(mistake(fill(&mut program(false), &wide_fill(Some(DstFormat::Int32)))), needs);
    assert_eq!(fill(&mut program(true), &wide_fill(Some(DstFormat::Int32))), Ok(()));
    assert_eq!(fill(&mut program(false), &wide_fill(Some(DstFormat::UInt16))), Ok(()));
    // A copy onto a tile of another format: math that adds to it says what it holds.
    for (makes, held) in [(Some(DstFormat::UInt16), DstFormat::UInt16), (Some(DstFormat::Fp32), DstFormat::Bf16)] {
        let mut program = program(false);
        let call = function(("relu", "relu"), 1, &[], makes);
        let found = program.by(COMPUTES, |run, device| {
            run.vector_init(&call, 0).expect("an init");
            run.vector(&call, [0; 3], 0, 0).expect("a function");
            let math = Math::Eltwise { op: EltwiseOp::Mul, broadcast: NONE, accumulate: false };
            run.init_math(math, &[4]).expect("an operation");
            run.eltwise_tiles(device, (EltwiseOp::Mul, NONE), (4, 4), (1, 1), 0)
        });
        let mixed = FaultKind::MixedFormats { index: 0, held, made: DstFormat::Bf16 };
        let expected = if held == DstFormat::Bf16 { Ok(()) } else { Err(mixed) };
        assert_eq!(found.map_err(|fault| *fault.what), expected);
    }
}

const NONE: Broadcast = Broadcast::None;

#[test]
fn tile_functions_take_their_tiles_in_a_list() {
    let names = ("add_int_tile", "add_int_tile_init");
    let add = VectorCall::new(names, ("tile", "add_uint16"), 3, &[], None).expect("a function");
    let turned = VectorCall::new(("t", "t_init"), ("tile", "add_int32"), 1, &[5], Some(DstFormat::Int32));
    let turned = turned.expect("a function");
    let wrong = |tiles, parameters: &[u32]| {
        VectorCall::new(("t", "t_init"), ("tile", "add_int32"), tiles, parameters, None).expect_err("a mistake")
    };
    let text = "add_int32 takes 1 tiles, 1 to 1 parameters";
    assert_eq!([wrong(2, &[5]), wrong(1, &[]), wrong(1, &[5, 6])], [text; 3]);
    let unknown = VectorCall::new(("t", "t_init"), ("relu", "other"), 1, &[], None).expect_err("a mistake");
    assert_eq!(unknown, "the SFPU has no function relu/other of 1 tiles");
    assert!(VectorCall::new(("t", "t_init"), ("relu", "relu"), 4, &[], None).is_err());
    let run_tiles = |program: &mut Program, call: &VectorCall, tiles: &[u32]| {
        program.by(COMPUTES, |run: &mut Run, _: &mut Device| {
            run.vector_init(&VectorCall::init_only(&call.name, &call.init.title), 0).expect("an init");
            let before = run.kernels[COMPUTES].clocks[1];
            run.vector_tiles(call, tiles).map(|()| run.kernels[COMPUTES].clocks[1] - before)
        })
    };
    let needs = FaultKind::NeedsWideDst { format: DataFormat::Int32 };
    assert_eq!(mistake(run_tiles(&mut program(false), &turned, &[0])), needs);
    let mut wide = program(true);
    assert_eq!(run_tiles(&mut wide, &turned, &[0]), Ok(tile_cycles("add_int32", false, true)));
    assert_eq!(mistake(run_tiles(&mut wide, &turned, &[3])), FaultKind::DstUnwritten { index: 3 });
    let relu = function(("relu", "relu"), 1, &[], None);
    assert!(matches!(mistake(run_tiles(&mut wide, &relu, &[0])), FaultKind::Bug(_)));
    let kind = mistake(wide.by(COMPUTES, |run, _| {
        run.vector_init(&VectorCall::init_only(&add.name, &add.init.title), 0).expect("an init");
        run.vector(&add, [0; 3], 0, 0)
    }));
    assert!(matches!(kind, FaultKind::Bug(_)), "{kind:?}");
}

/// The format that a tile of `Dst` holds, as a product that is added to it says; `None` if it can be added to bfloat16.
fn other_format(program: &mut Program, dst: u32) -> Option<DstFormat> {
    program.by(COMPUTES, |run, device| {
        run.init_math(Math::Eltwise { op: EltwiseOp::Mul, broadcast: NONE, accumulate: false }, &[4])
            .expect("an operation");
        match run.eltwise_tiles(device, (EltwiseOp::Mul, NONE), (4, 4), (1, 1), dst).map_err(|fault| *fault.what) {
            Err(FaultKind::MixedFormats { held, .. }) => Some(held),
            other => other.map(|()| None).expect("a product"),
        }
    })
}

#[test]
fn what_a_tile_function_changes_keeps_its_format_and_what_it_makes_gets_that_of_its_operands() {
    let mut program = program(false);
    let call = |name, tiles, parameters: &[u32], makes| {
        VectorCall::new(("t", "t_init"), ("tile", name), tiles, parameters, makes).expect("a function")
    };
    let fill = function(("fill", ""), 1, &[3], Some(DstFormat::UInt16));
    program.by(COMPUTES, |run, _| {
        run.vector_init(&fill, 0).expect("an init");
        run.vector(&fill, [1; 3], 1, 0).expect("a tile of integers");
        run.vector_init(&VectorCall::init_only("t", "t_init"), 0).expect("an init");
        // The mask reads the tile of integers; the rows of integers go where tile 0 says nothing about formats.
        run.vector_tiles(&call("mask", 2, &[], None), &[0, 1]).expect("a mask");
        run.vector_tiles(&call("reshuffle_rows", 2, &[0; 32], None), &[0, 1]).expect("rows");
        run.vector_tiles(&call("add_top_row", 3, &[], None), &[0, 2, 3]).expect("a sum");
        run.vector_tiles(&call("add_top_row_int", 3, &[], Some(DstFormat::UInt16)), &[0, 2, 4]).expect("a sum");
        let unwritten = run.vector_tiles(&call("mask", 2, &[], None), &[5, 1]);
        assert_eq!(mistake(unwritten), FaultKind::DstUnwritten { index: 5 });
    });
    let formats = [0, 1, 2, 3, 4].map(|dst| other_format(&mut program, dst));
    assert_eq!(formats, [None, Some(DstFormat::UInt16), None, None, Some(DstFormat::UInt16)]);
}
