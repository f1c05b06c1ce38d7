use tt_formats::DataFormat;

use super::*;
use tt_tensix::pack::{DstFormat, PackConfig, Packer};
use tt_tensix::regs::index;

/// Numbers with 11 significant bits, some zero, reproducible.
fn tile(seed: u32, wide: bool) -> Tile {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    std::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (sign, exponent) = (state & 0x8000_0000, 120 + (state >> 5) % 10);
        let mantissa = state >> 8 & if wide { 0x007f_e000 } else { 0x007f_0000 };
        if state.is_multiple_of(17) { 0 } else { sign | exponent << 23 | mantissa }
    })
}

/// The definition: masked operands, products and sums in f64.
fn reference(fidelity: MathFidelity, left: &[Tile], right: &[Tile]) -> Vec<f64> {
    let masks = FidelityMasks::new(fidelity);
    let mut sums = vec![0.0; TILE_DATUMS];
    for (left, right) in left.iter().zip(right) {
        for row in 0..32 {
            for column in 0..32 {
                for pass in 0..masks.passes() {
                    for k in 0..32 {
                        let left = f32::from_bits(masks.keep(Side::Left, pass).fp32(left[index(row, k)]));
                        let right = f32::from_bits(masks.keep(Side::Right, pass).fp32(right[index(k, column)]));
                        sums[index(row, column)] += f64::from(left) * f64::from(right);
                    }
                }
            }
        }
    }
    sums
}

fn units() -> Vec<(bool, Level)> {
    let levels = Level::supported();
    levels.iter().flat_map(|&level| [(false, level), (true, level)]).collect()
}

/// Every fidelity at every level.
fn multipliers() -> impl Iterator<Item = (MathFidelity, Level, Multiplier)> {
    let at = |fidelity, level| (fidelity, level, Multiplier::new(fidelity, false, level));
    MathFidelity::ALL
        .into_iter()
        .flat_map(move |fidelity| Level::supported().iter().map(move |&level| at(fidelity, level)))
}

/// The panels of tiles that follow each other.
fn packed(multiplier: &Multiplier, side: Side, tiles: &[Tile]) -> Vec<Panel> {
    let mut panels = vec![Panel::ZERO; tiles.len() * multiplier.panels()];
    for (tile, panels) in tiles.iter().zip(panels.chunks_mut(multiplier.panels())) {
        multiplier.pack(side, tile, panels);
    }
    panels
}

fn packed_pages(multiplier: &Multiplier, side: Side, pages: &[Bf16Page]) -> Vec<Panel> {
    let mut panels = vec![Panel::ZERO; pages.len() * multiplier.panels()];
    for (page, panels) in pages.iter().zip(panels.chunks_mut(multiplier.panels())) {
        multiplier.pack_bf16(side, page, panels);
    }
    panels
}

fn words(panels: &[Panel]) -> Vec<u32> {
    panels.iter().flat_map(|panel| panel.0).collect()
}

#[test]
fn every_unit_multiplies_masked_operands() {
    for fidelity in MathFidelity::ALL {
        for (wide, level) in units() {
            let multiplier = Multiplier::new(fidelity, wide, level);
            let left: Vec<Tile> = (0..3).map(|seed| tile(seed, wide)).collect();
            let right: Vec<Tile> = (10..13).map(|seed| tile(seed, wide)).collect();
            let per_tile = multiplier.panels();
            let panels = [packed(&multiplier, Side::Left, &left), packed(&multiplier, Side::Right, &right)];
            let mut session = multiplier.session();
            let (mut whole, mut parts) = (Sums::ZERO, Sums::ZERO);
            session.multiply(&panels[0], &panels[1], &mut whole, true);
            let (first, rest) = (..per_tile, per_tile..);
            session.multiply(&panels[0][first], &panels[1][first], &mut parts, true);
            session.multiply(&panels[0][rest.clone()], &panels[1][rest], &mut parts, false);
            assert!(whole.0 == parts.0, "{fidelity:?} {:?}: where K is split shows", multiplier.unit());
            let mut running = session.begin(&mut parts, true);
            for (left, right) in panels[0].chunks(per_tile).zip(panels[1].chunks(per_tile)) {
                running.steps(left, right);
            }
            let mut elsewhere = Sums([1; TILE_DATUMS]);
            running.end_in(&mut elsewhere);
            parts = elsewhere;
            assert!(whole.0 == parts.0, "{fidelity:?} {:?}: where K is split shows", multiplier.unit());
            for (got, expected) in whole.0.iter().zip(reference(fidelity, &left, &right)) {
                let got = f64::from(f32::from_bits(*got));
                assert!(
                    (got - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                    "{fidelity:?} {:?}: {got} {expected}",
                    multiplier.unit()
                );
            }
        }
    }
}

/// Also on a CPU that has AMX besides, which is preferred to them.
#[cfg(target_arch = "x86_64")]
#[test]
fn dot_products_are_fused_multiply_adds_with_odd_steps_first() {
    if Level::detected() != Level::Avx512 || !dot::available() {
        return;
    }
    for fidelity in MathFidelity::ALL {
        let multiplier = Multiplier::on(Unit::Dot, fidelity, Level::Avx512);
        let (left, right): (Vec<Tile>, Vec<Tile>) =
            (0..3).map(|seed| (tile(seed, false), tile(seed + 10, false))).unzip();
        let panels = [packed(&multiplier, Side::Left, &left), packed(&multiplier, Side::Right, &right)];
        let mut sums = Sums(tile(20, false));
        let masks = FidelityMasks::new(fidelity);
        let expected: Tile = std::array::from_fn(|datum| {
            let (row, column) = tt_formats::TileShape::FULL.position(datum);
            let mut sum = f32::from_bits(sums.0[datum]);
            for (left, right) in left.iter().zip(&right) {
                for pass in 0..masks.passes() {
                    for k in (0..32).map(|k| k ^ 1) {
                        let left = f32::from_bits(masks.keep(Side::Left, pass).fp32(left[index(row, k)]));
                        let right = f32::from_bits(masks.keep(Side::Right, pass).fp32(right[index(k, column)]));
                        sum = left.mul_add(right, sum);
                    }
                }
            }
            sum.to_bits()
        });
        multiplier.session().multiply(&panels[0], &panels[1], &mut sums, false);
        assert!(sums.0 == expected, "{fidelity:?}");
    }
}

/// Every kind of number, besides usual ones, so that products are of all kinds too.
fn unusual(seed: u32) -> Tile {
    let kinds =
        [0, 0x8000_0000, 0x0001_0000, 0x807f_0000, 0x0080_0000, 0x7f7f_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000];
    let mut tile = tile(seed, false);
    for (place, word) in tile.iter_mut().enumerate().skip(seed as usize).step_by(97) {
        *word = kinds[place % kinds.len()];
    }
    tile
}

fn page_of(tile: &Tile) -> Bf16Page {
    std::array::from_fn(|byte| (tile[byte / 2] >> (16 + byte % 2 * 8)) as u8)
}

#[test]
fn pages_are_multiplied_as_panels_and_sums_become_pages() {
    for (fidelity, _, multiplier) in multipliers() {
        for make in [|seed| tile(seed, false), unusual] {
            let (left, right): (Vec<_>, Vec<_>) =
                (0..3).map(|seed| (page_of(&make(seed)), page_of(&make(seed + 10)))).unzip();
            let panels = [packed_pages(&multiplier, Side::Left, &left), packed_pages(&multiplier, Side::Right, &right)];
            let start = Sums(tile(20, false));
            let mut session = multiplier.session();
            let mut expected = start;
            session.multiply(&panels[0], &panels[1], &mut expected, false);
            let mut page = [0; 2048];
            multiplier.to_bf16(&expected, &ZERO_ROW, 0..LINES, &mut page);
            let what = format!("{fidelity:?} {:?}", multiplier.unit());

            let (mut sums, mut finished) = (start, [1; 2048]);
            let running = session.begin(&mut sums, false);
            running.last_steps((&panels[0], &panels[1]), &[], &multiplier, &mut finished);
            assert!(finished == page, "{what}: the last product");

            let Some(masks) = multiplier.masks() else { continue };
            let left: Vec<&[u8]> = left.iter().map(|page| &page[..]).collect();
            let right: Vec<&[u8]> = right.iter().map(|page| &page[..]).collect();
            let (mut sums, mut finished) = (start, [1; 2048]);
            let mut running = session.begin(&mut sums, false);
            running.pages((&left[..1], &right[..1]), &masks, &[], None);
            running.pages((&left[1..], &right[1..]), &masks, &[], None);
            running.end();
            assert!(sums.0 == expected.0, "{what}: sums of pages");
            sums = start;
            session.begin(&mut sums, false).pages((&left, &right), &masks, &[], Some(&mut finished));
            assert!(finished == page, "{what}: a page of pages");

            // Packed in the first product of each, and found in the second.
            for (of_left, of_right) in [(true, true), (true, false), (false, true), (false, false)] {
                let mut packed = [vec![Panel::ZERO; 3], vec![Panel::ZERO; 3]];
                if !of_left {
                    packed[0].clone_from(&panels[0]);
                }
                if !of_right {
                    packed[1].clone_from(&panels[1]);
                }
                let [left_panels, right_panels] = &mut packed;
                let pages = (if of_left { &left[..] } else { &[] }, if of_right { &right[..] } else { &[] });
                let (mut sums, mut finished) = (start, [1; 2048]);
                let mut running = session.begin(&mut sums, false);
                running.packing((left_panels, right_panels), pages, &masks, &[], None);
                running.end();
                assert!(sums.0 == expected.0, "{what}: sums of pages that are packed meanwhile");
                assert!(words(left_panels) == words(&panels[0]) && words(right_panels) == words(&panels[1]), "{what}");
                sums = start;
                let running = &mut session.begin(&mut sums, false);
                running.packing((left_panels, right_panels), (&[], &[]), &masks, &[], Some(&mut finished));
                assert!(finished == page, "{what}: a page of panels that were packed");
            }
        }
    }
}

#[test]
fn pages_are_packed_as_tiles() {
    for (fidelity, level, multiplier) in multipliers() {
        let tile = tile(5, false);
        for side in [Side::Left, Side::Right] {
            let pages = packed_pages(&multiplier, side, &[page_of(&tile)]);
            assert!(words(&packed(&multiplier, side, &[tile])) == words(&pages), "{fidelity:?} {level} {side:?}");
        }
    }
}

#[test]
fn a_tile_is_packed_beside_a_product() {
    for (fidelity, level, multiplier) in multipliers() {
        let count = multiplier.panels();
        let [mut expected, mut got] = [(); 2].map(|()| vec![Panel::ZERO; count]);
        let left_right = |seed| {
            let [left, right] = [tile(seed, false), tile(seed + 1, false)];
            (packed(&multiplier, Side::Left, &[left]), packed(&multiplier, Side::Right, &[right]))
        };
        let ((left, right), (other_left, other_right)) = (left_right(1), left_right(3));
        let mut session = multiplier.session();
        let (mut alone, mut beside) = (Sums::ZERO, Sums::ZERO);
        session.multiply(&left, &right, &mut alone, true);
        session.multiply(&other_left, &other_right, &mut alone, false);
        session.multiply(&left, &right, &mut alone, false);
        // What follows is known the first time and not what was said the second time.
        let mut run = |decoder, page: &[u8], got: &mut [Panel]| {
            let [mut first, mut second, mut third] = [&right, &other_right, &right].map(Clone::clone);
            let mut running = session.begin(&mut beside, true);
            let mut step = |left: &[Panel], panels: &mut [Panel], next: PanelPair<'_>| {
                running.step_beside(left, &multiplier, Packing { decoder, page, panels, next, soon: page })
            };
            let done = [
                step(&left, &mut first, (&other_left, &second)),
                step(&other_left, &mut second, (&other_left, &other_right)),
                step(&left, &mut third, (&left, &right)),
            ];
            running.end();
            assert!(alone.0 == beside.0, "{fidelity:?} {level}");
            assert!(done.iter().all(|&one| one == done[0]), "{fidelity:?} {level}");
            let same = [&second, &third].map(|other| first.iter().zip(other).all(|(a, b)| a.0 == b.0));
            assert!(!done[0] || same == [true; 2], "{fidelity:?} {level}");
            got.copy_from_slice(&first);
            done[0]
        };
        let page: Bf16Page = std::array::from_fn(|byte| (byte * 7 % 61) as u8 | 0x20);
        multiplier.pack_bf16(Side::Right, &page, &mut expected);
        assert!(run(None, &page, &mut got));
        assert!(words(&expected) == words(&got), "{fidelity:?} {level}");
        for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
            let decoder = PanelDecoder::new(format, level).expect("a block float");
            let bytes = format.tile_bytes(tt_formats::TileShape::FULL);
            let mut l1: Vec<u8> = (0..bytes).map(|byte| (byte * 5 % 97) as u8 | 0x11).collect();
            let direct = multiplier.pack_right_block(decoder, &l1, &mut expected);
            assert_eq!(run(Some(decoder), &l1, &mut got), direct);
            assert!(!direct || words(&expected) == words(&got), "{fidelity:?} {format:?} {level}");
            // An exponent that wraps: the product is done all the same.
            l1[0] = 0;
            assert!(!run(Some(decoder), &l1, &mut got));
        }
    }
}

/// A run with pages that go straight, pages that do not, and empty ones has the sums of single products.
#[test]
fn a_run_is_its_products() {
    const TILES: usize = 21;
    for fidelity in MathFidelity::ALL {
        for (level, format) in Level::supported().iter().flat_map(|&level| {
            [DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B].map(|format| (level, format))
        }) {
            let multiplier = Multiplier::new(fidelity, false, level);
            let per_tile = multiplier.panels();
            let decoder = PanelDecoder::new(format, level);
            let bytes = format.tile_bytes(tt_formats::TileShape::FULL);
            let page = |number: usize| -> Vec<u8> {
                let byte = |byte: usize| (byte * 5 % 97 + number) as u8 & 0x3f | 0x31;
                let mut page: Vec<u8> = (0..if number % 7 == 5 { 0 } else { bytes }).map(byte).collect();
                if number % 4 == 2 && decoder.is_some() && !page.is_empty() {
                    page[0] = 0; // an exponent that wraps
                }
                page
            };
            let pages: Vec<Vec<u8>> = (0..TILES).map(page).collect();
            let tiles: Vec<Tile> = (0..TILES as u32).map(|number| tile(number, false)).collect();
            let left = packed(&multiplier, Side::Left, &tiles);
            // What the caller packs is another tile.
            let pack = |number: usize, panels: &mut [Panel]| {
                if !multiplier.pack_right_page(&pages[number], decoder, panels) {
                    multiplier.pack(Side::Right, &tile(100 + number as u32, false), panels);
                }
            };
            let mut right = vec![Panel::ZERO; TILES * per_tile];
            right.chunks_mut(per_tile).enumerate().for_each(|(number, panels)| pack(number, panels));
            let mut session = multiplier.session();
            let [mut alone, mut together] = [Sums::ZERO; 2];
            session.multiply(&left, &right, &mut alone, true);

            let mut places = vec![Panel::ZERO; PLACES * per_tile];
            places.chunks_mut(per_tile).take(WAITING).enumerate().for_each(|(number, panels)| pack(number, panels));
            let straight: Vec<&[u8]> = pages[WAITING..].iter().map(Vec::as_slice).collect();
            let (mut running, mut done) = (session.begin(&mut together, true), 0);
            while done < TILES {
                let pages = &straight[done.min(straight.len())..];
                let mut run = Run { left: &left[done * per_tile..], places: &mut places, number: done, pages };
                let Some(step) = running.run(&mut run, &multiplier, decoder) else {
                    break;
                };
                done += step + 1;
                let number = done + WAITING - 1;
                pack(number, &mut places[number % PLACES * per_tile..][..per_tile]);
            }
            running.end();
            assert!(alone.0 == together.0, "{fidelity:?} {level} {format:?}");
        }
    }
}

/// A byte of datums with zeros in the place of negative ones.
fn plain(byte: u8, format: DataFormat) -> u8 {
    match format {
        DataFormat::Bfp8B if byte == 0x80 => 0,
        DataFormat::Bfp8B => byte,
        _ => [0x0f, 0xf0].into_iter().map(|half| if byte & half == 0x88 & half { 0 } else { byte & half }).sum(),
    }
}

#[test]
fn every_datum_is_decoded_as_by_the_definition_at_every_exponent() {
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let definition = PanelDecoder::new(format, Level::Scalar).expect("a block float");
        let bytes = format.tile_bytes(tt_formats::TileShape::FULL);
        for exponent in 0..=255u8 {
            for round in 0..4 {
                let mut l1: Vec<u8> = (0..bytes).map(|place| plain((place * 5 + round * 67) as u8, format)).collect();
                l1[..64].iter_mut().enumerate().for_each(|(group, to)| *to = exponent.wrapping_add(group as u8 % 3));
                let (mut expected, mut page) = ([0; 2 * TILE_DATUMS], [1; 2 * TILE_DATUMS]);
                let decodes = definition.decode(&l1, &mut expected);
                assert_eq!(decodes, (8..=251).contains(&exponent), "{format:?} {exponent}");
                for &level in Level::supported() {
                    let decoder = PanelDecoder::new(format, level).expect("a block float");
                    assert_eq!(decoder.decode(&l1, &mut page), decodes, "{format:?} {exponent} {level}");
                    assert!(!decodes || page == expected, "{format:?} {exponent} {level}");
                }
            }
        }
    }
}

#[test]
fn a_negative_zero_is_found_at_every_place() {
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let zeros: &[u8] = if format == DataFormat::Bfp8B { &[0x80] } else { &[0x08, 0x80, 0x18, 0x8f] };
        for &level in Level::supported() {
            let decoder = PanelDecoder::new(format, level).expect("a block float");
            let multiplier = Multiplier::new(MathFidelity::HiFi4, false, level);
            let mut l1 = vec![127; format.tile_bytes(tt_formats::TileShape::FULL)];
            l1[64..].fill(0x9f);
            let (mut page, mut panels) = ([0; 2 * TILE_DATUMS], vec![Panel::ZERO; multiplier.panels()]);
            assert!(decoder.decode(&l1, &mut page));
            for place in 64..l1.len() {
                for &zero in zeros {
                    l1[place] = zero;
                    assert!(!decoder.decode(&l1, &mut page), "{format:?} {level} {place} {zero:02x}");
                    assert!(!multiplier.pack_right_block(decoder, &l1, &mut panels), "{format:?} {level} {place}");
                }
                l1[place] = 0x9f;
            }
        }
    }
}

#[test]
fn block_floats_are_packed_as_their_pages() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let mut count = 0;
        for round in 0..100 {
            let mut l1: Vec<u8> = (0..format.tile_bytes(tt_formats::TileShape::FULL)).map(|_| next()).collect();
            for (group, exponent) in l1[..64].iter_mut().enumerate() {
                *exponent = if round % 2 == 0 || group % 3 == 0 { *exponent % 246 + 8 } else { 0 };
            }
            for (place, datum) in l1[64..].iter_mut().enumerate() {
                let group = place / if format == DataFormat::Bfp8B { 16 } else { 8 };
                // Groups with the exponent 0 are empty.
                let empty = round % 2 == 1 && group % 3 != 0;
                *datum = if empty { 0 } else { plain(*datum, format) };
            }
            let mut page = [0; 2 * TILE_DATUMS];
            for &level in Level::supported() {
                let decoder = PanelDecoder::new(format, level).expect("a block float");
                assert!(decoder.decode(&l1, &mut page), "{format:?} {level}");
                for fidelity in MathFidelity::ALL {
                    let multiplier = Multiplier::new(fidelity, false, level);
                    let mut panels = vec![Panel::ZERO; multiplier.panels()];
                    if multiplier.pack_right_block(decoder, &l1, &mut panels) {
                        count += 1;
                        let expected = packed_pages(&multiplier, Side::Right, &[page]);
                        assert!(words(&panels) == words(&expected), "{fidelity:?} {format:?} {level} {round}");
                    }
                }
            }
        }
        let direct = decode_vbmi_available()
            && Multiplier::new(MathFidelity::LoFi, false, Level::detected()).unit().takes_bf16();
        assert_eq!(count, if direct { 400 } else { 0 }, "{format:?}");
    }
}

fn decode_vbmi_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return tt_tensix::unpack::block_float::permutes::available();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[test]
fn sums_are_canonicalized_and_rounded() {
    let patterns = [
        (0x8000_0000, 0, 0),
        (0x0000_0001, 0, 0),
        (0xffc0_0001, 0x7fc0_0000, 0x7f80_0000),
        (0xff80_0000, 0xff80_0000, 0xff80_0000),
        (0x3f80_8000, 0x3f80_8000, 0x3f81_0000),
        (0xbf80_7fff, 0xbf80_7fff, 0xbf80_0000),
        (0x7f7f_ffff, 0x7f7f_ffff, 0x7f80_0000),
    ];
    for &level in Level::supported() {
        for (before, canonical, rounded) in patterns {
            let mut sums = Sums([before; TILE_DATUMS]);
            sums.canonicalize(level);
            assert_eq!(sums.0[77], canonical, "{before:08x} {level}");
            sums.round_to_bf16(level);
            assert_eq!(sums.0[77], rounded, "{before:08x} {level}");
        }
    }
}

#[test]
fn sums_become_the_bf16_of_the_packer() {
    let config = PackConfig::new(DstFormat::Fp32, DataFormat::Float16B);
    let special = |place: u32| [0, 0x8000, 0xffff, 0x7fff][place as usize % 4];
    for &level in Level::supported() {
        let packer = Packer::new(&config, level).expect("a packer");
        let multiplier = Multiplier::new(MathFidelity::LoFi, false, level);
        // Every upper half, with the lower halves next to the borders of rounding.
        for block in 0..2 * 4 * 64 {
            let row = if block < 4 * 64 { ZERO_ROW } else { std::array::from_fn(|column| (column as f32).to_bits()) };
            let block = block % (4 * 64);
            let mut sums = Sums(std::array::from_fn(|datum| {
                let place = block * 1024 + datum as u32;
                (place / 4) << 16 | special(place)
            }));
            let (mut expected, mut got) = ([0; 2 * TILE_DATUMS], [1; 2 * TILE_DATUMS]);
            multiplier.to_bf16(&sums, &row, 0..5, &mut got);
            multiplier.to_bf16(&sums, &row, 5..LINES, &mut got);
            if row != ZERO_ROW {
                sums.add_row(&row, level);
            }
            sums.canonicalize(level);
            packer.pack(&sums.0, &mut expected);
            assert!(got == expected, "block {block} at {level}");
        }
    }
}

#[test]
fn a_row_is_added_to_every_row() {
    let row: TileRow = std::array::from_fn(|column| (column as f32).to_bits());
    let mut sums = Sums([1.0f32.to_bits(); TILE_DATUMS]);
    sums.add_row(&row, Level::current());
    for line in 0..32 {
        for column in 0..32 {
            let expected = 1.0 + column as f32;
            assert_eq!(sums.0[index(line, column)], expected.to_bits());
        }
    }
}
