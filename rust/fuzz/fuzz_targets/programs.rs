//! Programs from libFuzzer's bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::check(bytes);
});
