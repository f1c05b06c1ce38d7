use tt_formats::{DataFormat, TileShape};

use super::*;
use crate::{PLACES, Run, Tile, WAITING};
use tt_tensix::regs::{MathFidelity, TILE_DATUMS};

const FORMATS: [DataFormat; 3] = [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B];
const STEPS: usize = 3;
/// Tiles of a run: more than it has places for.
const TILES: usize = 9;

/// Numbers that fit BF16, some zero, reproducible; rows from `rows` on are zeros.
fn tile(seed: u32, rows: usize) -> Tile {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut tile = [0; TILE_DATUMS];
    for row in 0..rows {
        for column in 0..32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = state & 0x807f_0000 | (120 + (state >> 5) % 10) << 23;
            tile[index(row, column)] = if state.is_multiple_of(17) { 0 } else { number };
        }
    }
    tile
}

/// A page of a format, of plain patterns. In every third the exponents are as small as they may be, or so large that
/// sums are just finite, or those of empty groups are none.
fn page(format: DataFormat, seed: u32) -> Vec<u8> {
    if format == DataFormat::Float16B {
        return tile(seed, 32).iter().flat_map(|word| ((word >> 16) as u16).to_le_bytes()).collect();
    }
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(77);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut page: Vec<u8> = (0..format.tile_bytes(TileShape::FULL)).map(|_| next()).collect();
    let (exponents, datums) = page.split_at_mut(64);
    let group_bytes = datums.len() / 64;
    for (group, exponent) in exponents.iter_mut().enumerate() {
        *exponent = if seed.is_multiple_of(3) { [8, 240, 0, 255][group % 4] } else { 110 + *exponent % 20 };
    }
    for (place, datum) in datums.iter_mut().enumerate() {
        let negative_zero = |datum: u8| match format {
            DataFormat::Bfp8B => datum == 0x80,
            _ => datum & 0x0f == 0x08 || datum & 0xf0 == 0x80,
        };
        let empty = !(8..=253).contains(&exponents[place / group_bytes]);
        if empty || negative_zero(*datum) {
            *datum = 0;
        }
    }
    page
}

/// Each fidelity, format and number of rows on this host's dot products, if it has them.
fn each(mut test: impl FnMut(&Multiplier, DataFormat, Option<PanelDecoder>, SmallM)) {
    for fidelity in MathFidelity::ALL {
        #[cfg(target_arch = "x86_64")]
        if Level::detected() == Level::Avx512 && crate::dot::available() {
            let multiplier = Multiplier::on(Unit::Dot, fidelity, Level::Avx512);
            for format in FORMATS {
                let decoder = PanelDecoder::new(format, Level::Avx512);
                if let Some(small_m) = multiplier.small_m(decoder) {
                    test(&multiplier, format, decoder, small_m);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (fidelity, &mut test);
    }
}

fn left_panels(multiplier: &Multiplier, tiles: usize, rows: usize) -> Vec<Panel> {
    let per_tile = multiplier.panels();
    let mut left = vec![Panel::ZERO; tiles * per_tile];
    for (step, panels) in left.chunks_mut(per_tile).enumerate() {
        multiplier.pack(Side::Left, &tile(step as u32, rows), panels);
    }
    left
}

#[test]
fn few_rows_have_the_sums_of_all() {
    each(|multiplier, format, decoder, small_m| {
        let per_tile = multiplier.panels();
        for (rows, columns) in [1, 2, 3, 4, 5, 8, 9, 16, 17, 24].into_iter().flat_map(|rows| [(rows, 1), (rows, 7)]) {
            let what = format!("{format:?} {:?} {rows} rows {columns} columns", multiplier.fidelity);
            let left = left_panels(multiplier, STEPS, rows);
            let found = small_m.rows(&left).expect("few rows");
            let pages: Vec<Vec<u8>> = (0..STEPS * columns).map(|number| page(format, 50 + number as u32)).collect();
            let pages: Vec<&[u8]> = pages.iter().map(Vec::as_slice).collect();
            let mut lines = vec![Line::ZERO; columns * found.lines()];
            for (step, tiles) in pages.chunks(columns).enumerate() {
                let soon = pages.chunks(columns).nth(step + 1).unwrap_or(&[]);
                assert!(small_m.step(&found, step, tiles, soon, &mut lines), "{what}: plain pages");
            }
            for (column, lines) in lines.chunks(found.lines()).enumerate() {
                let mut right = vec![Panel::ZERO; STEPS * per_tile];
                for (step, panels) in right.chunks_mut(per_tile).enumerate() {
                    assert!(multiplier.pack_right_page(pages[step * columns + column], decoder, panels), "{what}");
                }
                let (mut sums, mut expected) = (Sums([1; TILE_DATUMS]), Sums::ZERO);
                multiplier.session().multiply(&left, &right, &mut expected, true);
                assert!(small_m.finish(lines, &mut sums), "{what}: finite sums");
                assert!(sums.0 == expected.0, "{what}");
            }
        }
    });
}

#[test]
fn one_number_makes_a_row_count() {
    each(|multiplier, _, _, small_m| {
        for (row, column) in [(0, 0), (1, 31), (4, 16), (15, 15), (16, 0), (23, 31), (24, 7), (31, 31)] {
            let mut left = left_panels(multiplier, STEPS, 0);
            let mut tile = [0; TILE_DATUMS];
            tile[index(row, column)] = 0x0080_0000;
            let per_tile = multiplier.panels();
            multiplier.pack(Side::Left, &tile, &mut left[(STEPS - 1) * per_tile..]);
            let rows = small_m.rows(&left).map(|found| found.rows);
            assert_eq!(rows.is_some(), row < MOST_ROWS, "row {row}");
            assert!(rows.is_none_or(|rows| rows > row && rows <= MOST_ROWS), "row {row} of {rows:?}");
        }
        assert_eq!(small_m.rows(&left_panels(multiplier, STEPS, 0)).map(|found| found.rows), Some(1), "only zeros");
    });
}

/// Where no sum of a column is finite, it has to be multiplied again; and so where a page is not plain.
#[test]
fn what_rows_of_zeros_may_have_met_is_found() {
    each(|multiplier, format, _, small_m| {
        let left = left_panels(multiplier, STEPS, 2);
        let found = small_m.rows(&left).expect("few rows");
        let plain = page(format, 1);
        let run = |tile: &[u8]| {
            let (mut lines, mut sums) = (vec![Line::ZERO; found.lines()], Sums::ZERO);
            let plain = (0..STEPS).all(|step| {
                let page = if step == 0 { tile } else { &plain };
                small_m.step(&found, step, &[page], &[], &mut lines)
            });
            plain && small_m.finish(&lines, &mut sums)
        };
        assert!(run(&plain), "{format:?}");
        let mut odd = plain.clone();
        if format == DataFormat::Float16B {
            for (place, special) in (0..TILE_DATUMS).zip([0x7f80_u16, 0xff80, 0x7fc0].into_iter().cycle()) {
                odd[2 * place..2 * place + 2].copy_from_slice(&special.to_le_bytes());
                assert!(!run(&odd), "{special:04x} at {place}");
                odd[2 * place..2 * place + 2].copy_from_slice(&plain[2 * place..2 * place + 2]);
            }
            return;
        }
        let zeros: &[u8] = if format == DataFormat::Bfp8B { &[0x80] } else { &[0x08, 0x80, 0x18, 0x8f] };
        for place in 64..odd.len() {
            for &zero in zeros {
                odd[place] = zero;
                assert!(!run(&odd), "{format:?} {zero:02x} at {place}");
            }
            odd[place] = plain[place];
        }
        for (group, exponent) in (0..64).flat_map(|group| [(group, 7), (group, 254)]) {
            odd[group] = exponent;
            assert!(!run(&odd), "{format:?} exponent {exponent} of group {group}");
            odd[group] = plain[group];
        }
    });
}

/// Products and runs of products of few rows on AMX, if this host has it.
#[test]
fn amx_multiplies_the_rows_in_use() {
    if !crate::amx::available() || Level::detected() != Level::Avx512 {
        return;
    }
    for (fidelity, format) in
        MathFidelity::ALL.into_iter().flat_map(|fidelity| FORMATS.map(|format| (fidelity, format)))
    {
        let multiplier = Multiplier::on(Unit::Amx, fidelity, Level::Avx512);
        let decoder = PanelDecoder::new(format, Level::Avx512);
        let per_tile = multiplier.panels();
        let pages: Vec<Vec<u8>> = (0..TILES).map(|number| page(format, 50 + number as u32)).collect();
        let pack = |number: usize, panels: &mut [Panel]| {
            assert!(multiplier.pack_right_page(&pages[number], decoder, panels), "{format:?}: plain pages");
        };
        let mut right = vec![Panel::ZERO; TILES * per_tile];
        right.chunks_mut(per_tile).enumerate().for_each(|(number, panels)| pack(number, panels));
        let mut session = multiplier.session();
        for rows in [1, 2, 7, 8, 15, 16, 17, 24, 31, 32] {
            let left = left_panels(&multiplier, TILES, rows);
            let [mut all, mut few, mut run_of_few] = [Sums::ZERO, Sums([1; TILE_DATUMS]), Sums([2; TILE_DATUMS])];
            assert_eq!(session.multiply_rows(&[]), 32);
            session.multiply(&left, &right, &mut all, true);
            assert_eq!(session.multiply_rows(&left), rows);
            let (half, rest) = (4 * per_tile, left.len() - 4 * per_tile);
            session.multiply(&left[..half], &right[..half], &mut few, true);
            session.multiply(&left[half..], &right[right.len() - rest..], &mut few, false);
            assert!(few.0 == all.0 && few.every_column_is_finite(rows), "{fidelity:?} {format:?} {rows} rows");

            let mut places = vec![Panel::ZERO; PLACES * per_tile];
            places.chunks_mut(per_tile).take(WAITING).enumerate().for_each(|(number, panels)| pack(number, panels));
            let pages: Vec<&[u8]> = pages[WAITING..].iter().map(Vec::as_slice).collect();
            let mut running = session.begin(&mut run_of_few, true);
            let mut run = Run { left: &left, places: &mut places, number: 0, pages: &pages };
            assert_eq!(running.run(&mut run, &multiplier, decoder), None);
            running.end();
            assert!(run_of_few.0 == all.0, "{fidelity:?} {format:?} run of {rows} rows");
        }
    }
}

#[test]
fn a_column_is_finite_if_one_of_its_sums_is() {
    for (row, column) in [(0, 0), (3, 15), (5, 16), (2, 31)] {
        let mut sums = Sums([0x7f80_0000; TILE_DATUMS]);
        (0..32).filter(|&other| other != column).for_each(|other| sums.0[index(4, other)] = 0);
        assert!(!sums.every_column_is_finite(32), "column {column}");
        sums.0[index(row, column)] = 0xff7f_ffff;
        assert!(sums.every_column_is_finite(6), "column {column}");
        assert_eq!(sums.every_column_is_finite(5), row < 5, "row {row}");
    }
}
