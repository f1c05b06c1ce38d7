//! ELF files: good ones, and broken ones in every way.

use tt_formats::Arch;
use tt_perf::Costs;
use tt_riscv::{Exit, Hart, Image, ImageError, LOCAL_BASE, Memory, TEXT_BASE};
use tt_testkit::random::Random;
use tt_testkit::riscv::{ECALL, addi, elf, sw};

struct Nothing;

impl Memory for Nothing {
    fn load<const N: usize>(&mut self, _: u32) -> Option<[u8; N]> {
        None
    }

    fn store<const N: usize>(&mut self, _: u32, _: [u8; N]) -> bool {
        false
    }
}

fn file() -> Vec<u8> {
    elf(&[addi(5, 0, 7), ECALL], &[1, 2, 3, 4, 5], &[("one", 1), ("cb_interface", LOCAL_BASE + 64)])
}

/// Whatever a file is, reading it and running it ends.
fn try_all(file: Vec<u8>) {
    let Ok(image) = Image::new(file) else { return };
    let _ = (image.symbol("one"), image.section(".debug_line").len());
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    hart.run(&image.code, &mut Nothing, 1000);
}

#[test]
fn text_data_and_symbols_are_where_they_belong() {
    let image = Image::new(file()).expect("an image");
    assert_eq!((image.entry, image.symbol("one"), image.symbol("two")), (TEXT_BASE, Some(1), None));
    assert_eq!(image.symbol("cb_interface"), Some(LOCAL_BASE + 64));
    assert_eq!(image.code.word(TEXT_BASE + 4), Some(ECALL));
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    assert_eq!(hart.local(LOCAL_BASE, 6), Some(&[1, 2, 3, 4, 5, 0][..]));
    assert_eq!(hart.run(&image.code, &mut Nothing, 10), Exit::Call);
    assert_eq!(hart.register(5), 7);
}

#[test]
fn local_ram_is_read_and_written_and_the_stack_measured() {
    let image =
        Image::new(elf(&[addi(2, 2, -48), sw(5, 2, 0), addi(2, 2, 32), sw(6, 2, 4), ECALL], &[1, 2, 3, 4], &[]));
    let image = image.expect("an image");
    let mut hart = Hart::new(&image, &Costs::of(Arch::Wormhole).core);
    assert_eq!(hart.stack_peak(), 0);
    hart.local_mut(LOCAL_BASE + 1, 2).expect("local RAM").copy_from_slice(&[20, 30]);
    assert_eq!(hart.local(LOCAL_BASE, 5), Some(&[1, 20, 30, 4, 0][..]));
    assert!(hart.local_mut(LOCAL_BASE - 1, 2).is_none() && hart.local_mut(LOCAL_BASE, u32::MAX).is_none());
    assert_eq!(hart.run(&image.code, &mut Nothing, 10), Exit::Call);
    assert_eq!(hart.stack_peak(), 48);
}

#[test]
fn files_for_something_else_are_refused() {
    let changed = |at: usize, byte: u8| {
        let mut file = file();
        file[at] = byte;
        Image::new(file)
    };
    // No ELF, 64 bits, big endian, an object file, x86, compressed, float registers.
    for (at, byte) in [(1, b'F'), (4, 2), (5, 2), (16, 1), (18, 62), (36, 1), (36, 4)] {
        assert!(matches!(changed(at, byte), Err(ImageError::Other(_))), "byte {at}");
    }
    // The segment of the text elsewhere, or larger than its room.
    let segment = 52;
    assert!(matches!(changed(segment + 11, 0x20), Err(ImageError::Place { .. })));
    assert!(matches!(changed(segment + 22, 0x20), Err(ImageError::Place { .. })));
    assert!(matches!(changed(segment + 18, 1), Err(ImageError::Broken(_))));
}

#[test]
fn every_cut_and_every_changed_byte_is_survived() {
    let whole = file();
    for end in 0..whole.len() {
        try_all(whole[..end].to_vec());
    }
    for at in 0..whole.len() {
        for byte in [0, 1, 4, 0x7f, 0x80, 0xff] {
            let mut file = whole.clone();
            file[at] = byte;
            try_all(file);
        }
    }
}

#[test]
fn anything_as_a_text_or_a_file_is_survived() {
    let mut random = Random::new(3);
    for _ in 0..2000 {
        let text: Vec<u32> = (0..random.below(64)).map(|_| random.bits() as u32).collect();
        try_all(elf(&text, &[], &[]));
        let mut file = file();
        for _ in 0..random.below(8) {
            let at = random.below(file.len() as u32) as usize;
            file[at] = random.bits() as u8;
        }
        try_all(file);
    }
}
