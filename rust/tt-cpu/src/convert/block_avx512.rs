//! Block floats of whole 32x32 tiles with AVX-512.
//!
//! From rows of a matrix to the bytes of a tile and back.
//!
//! The definition is `tt_formats::block`, which every other level and every other tile uses; these functions return its
//! bits. Compiled for AVX-512 it takes two to three times as long, since the compiler widens 16-bit steps and goes
//! through memory between them. Here a vector holds a row of the tile, 32 BF16 values, from its load to its store.
#[allow(clippy::wildcard_imports, reason = "one vocabulary: the vector instructions")]
use std::arch::x86_64::*;

/// Rows and columns of the tile.
pub const SIDE: usize = 32;

/// Bytes of a vector, and of the exponents of a tile.
const VECTOR: usize = 64;

/// Rows of a face.
const FACE: usize = 16;

/// `a & b | c`, as the truth table of a ternary step.
const AND_OR: i32 = 0xea;

/// `!(a & b | c)`.
const NOT_AND_OR: i32 = 0x15;

/// `(a | b) & c`.
const OR_AND: i32 = 0xa8;

/// `c ? a : b`, bit by bit.
const SELECT: i32 = 0xe4;

macro_rules! avx512 {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident $(<const $bits:ident: usize>)? ($($arguments:tt)*) $(-> $result:ty)? $body:block)*) => { $(
        $(#[$attribute])*
        #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
        #[inline]
        $visibility fn $name $(<const $bits: usize>)? ($($arguments)*) $(-> $result)? $body
    )* };
}

avx512! {
    fn load(bytes: &[u8], at: usize) -> __m512i {
        let bytes: &[u8; VECTOR] = bytes[at..].first_chunk().expect("a vector lies inside the rows");
        // SAFETY: the array is as long as the load, which takes any alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    fn store(bytes: &mut [u8], at: usize, vector: __m512i) {
        let bytes: &mut [u8; VECTOR] = bytes[at..].first_chunk_mut().expect("a vector lies inside the rows");
        // SAFETY: the array is as long as the store, which takes any alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
    }

    fn load_half(bytes: &[u8], at: usize) -> __m256i {
        let bytes: &[u8; 32] = bytes[at..].first_chunk().expect("half a vector lies inside the tile");
        // SAFETY: the array is as long as the load, which takes any alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    fn store_half(bytes: &mut [u8], at: usize, vector: __m256i) {
        let bytes: &mut [u8; 32] = bytes[at..].first_chunk_mut().expect("half a vector lies inside the tile");
        // SAFETY: the array is as long as the store, which takes any alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
    }

    fn load_quarter(bytes: &[u8], at: usize) -> __m128i {
        let bytes: &[u8; 16] = bytes[at..].first_chunk().expect("a quarter of a vector lies inside the tile");
        // SAFETY: the array is as long as the load, which takes any alignment.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    /// The largest exponent of each group of four rows of BF16 words, two faces wide. Every pair of words of the first
    /// 256 bits belongs to the left face, of the others to the right one; a group of four pairs holds the four rows.
    fn shared_halves(rows: [__m512i; 4]) -> __m512i {
        let magnitude = _mm512_set1_epi16(0x7fff);
        let [a, b, c, d] = rows;
        let (a, b) = (_mm512_and_si512(a, magnitude), _mm512_and_si512(b, magnitude));
        let (c, d) = (_mm512_and_si512(c, magnitude), _mm512_and_si512(d, magnitude));
        let ab = _mm512_max_epu16(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        let cd = _mm512_max_epu16(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
        let most = _mm512_max_epu16(even_words(ab, cd), odd_words(ab, cd));
        let most = _mm512_max_epu16(most, _mm512_rol_epi32::<16>(most));
        let most = _mm512_max_epu16(most, _mm512_permutex_epi64::<0x4e>(most));
        _mm512_srli_epi16::<7>(most)
    }

    /// The largest exponent of each of four groups of FP32 words; each 128 bits hold the four.
    fn shared_words(groups: [__m512i; 4]) -> __m512i {
        let magnitude = _mm512_set1_epi32(0x7fff_ffff);
        let [a, b, c, d] = groups;
        let (a, b) = (_mm512_and_si512(a, magnitude), _mm512_and_si512(b, magnitude));
        let (c, d) = (_mm512_and_si512(c, magnitude), _mm512_and_si512(d, magnitude));
        let ab = _mm512_max_epu32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        let cd = _mm512_max_epu32(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
        let most = _mm512_max_epu32(even_words(ab, cd), odd_words(ab, cd));
        let most = _mm512_max_epu32(most, _mm512_permutex_epi64::<0x4e>(most));
        let most = _mm512_max_epu32(most, _mm512_shuffle_i64x2::<0x4e>(most, most));
        _mm512_srli_epi32::<23>(most)
    }

    /// 32-bit words 0 and 2 of each 128 bits of `a`, then of `b`.
    fn even_words(a: __m512i, b: __m512i) -> __m512i {
        _mm512_castps_si512(_mm512_shuffle_ps::<0x88>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
    }

    fn odd_words(a: __m512i, b: __m512i) -> __m512i {
        _mm512_castps_si512(_mm512_shuffle_ps::<0xdd>(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)))
    }

    /// A row of BF16 words as datums of `BITS`, upper bits of the lower byte of each word. What is below them is
    /// undefined unless `BITS` is 8.
    ///
    /// The significand stands 7 bits above its unit, and leaves up to seven bits to the right of where it is rounded;
    /// what is shifted out of the word is too small to be rounded up.
    fn quantise_halves<const BITS: usize>(x: __m512i, most: __m512i) -> __m512i {
        let upper = if BITS == 8 { 0x7f00 } else { 0x7000 };
        let just_below_half = if BITS == 8 { 0x7e } else { 0x7fe };
        let own = _mm512_srli_epi16::<7>(_mm512_and_si512(x, _mm512_set1_epi16(0x7fff)));
        let fraction = _mm512_slli_epi16::<7>(x);
        let significand =
            _mm512_ternarylogic_epi32::<AND_OR>(fraction, _mm512_set1_epi16(0x3f80), _mm512_set1_epi16(0x4000));
        let normal = _mm512_test_epi16_mask(x, _mm512_set1_epi16(0x7f80));
        let aligned = _mm512_maskz_srlv_epi16(normal, significand, _mm512_sub_epi16(most, own));
        let last = if BITS == 8 { _mm512_srli_epi16::<8>(aligned) } else { _mm512_srli_epi16::<12>(aligned) };
        // Half a unit less one, plus the last bit that stays: ties go to even. Subtracting the complement adds one
        // more, and saturates at the largest magnitude.
        let complement =
            _mm512_ternarylogic_epi32::<NOT_AND_OR>(last, _mm512_set1_epi16(1), _mm512_set1_epi16(just_below_half));
        let rounded = _mm512_subs_epi16(aligned, complement);
        let signed = _mm512_ternarylogic_epi32::<AND_OR>(x, _mm512_set1_epi16(i16::MIN), rounded);
        let nonzero = _mm512_test_epi16_mask(rounded, _mm512_set1_epi16(upper));
        _mm512_maskz_srli_epi16::<8>(nonzero, signed)
    }

    /// A group of FP32 words as datums of `BITS`, upper bits of the lower byte of each word. The host library cuts
    /// before it rounds, so the significand keeps its 24 bits.
    fn quantise_words<const BITS: usize>(x: __m512i, most: __m512i) -> __m512i {
        let just_below_half = (1 << (24 - BITS)) - 2;
        let significand = _mm512_ternarylogic_epi32::<AND_OR>(
            x,
            _mm512_set1_epi32(0x7f_ffff),
            _mm512_set1_epi32(0x80_0000),
        );
        let own = _mm512_srli_epi32::<23>(_mm512_and_si512(x, _mm512_set1_epi32(0x7fff_ffff)));
        let normal = _mm512_test_epi32_mask(x, _mm512_set1_epi32(0x7f80_0000));
        let aligned = _mm512_maskz_srlv_epi32(normal, significand, _mm512_sub_epi32(most, own));
        let last = if BITS == 8 { _mm512_srli_epi32::<17>(aligned) } else { _mm512_srli_epi32::<21>(aligned) };
        let complement =
            _mm512_ternarylogic_epi32::<NOT_AND_OR>(last, _mm512_set1_epi32(1), _mm512_set1_epi32(just_below_half));
        let rounded = _mm512_sub_epi32(aligned, complement);
        let magnitude = if BITS == 8 {
            _mm512_min_epu32(_mm512_srli_epi32::<17>(rounded), _mm512_set1_epi32(0x7f))
        } else {
            _mm512_slli_epi32::<4>(_mm512_min_epu32(_mm512_srli_epi32::<21>(rounded), _mm512_set1_epi32(7)))
        };
        let nonzero = _mm512_test_epi32_mask(magnitude, magnitude);
        _mm512_maskz_ternarylogic_epi32::<AND_OR>(nonzero, _mm512_srli_epi32::<24>(x), _mm512_set1_epi32(0x80), magnitude)
    }

    /// Stores 64 datums where they belong: as they are, or two in a byte.
    fn store_datums<const BITS: usize>(datums: &mut [u8], first: usize, wide: __m512i) {
        if BITS == 8 {
            store(datums, first, wide);
        } else {
            let (low, high) = (_mm512_srli_epi16::<4>(wide), _mm512_srli_epi16::<8>(wide));
            let pairs = _mm512_ternarylogic_epi32::<SELECT>(low, high, _mm512_set1_epi16(0xf));
            store_half(datums, first / 2, _mm512_cvtepi16_epi8(pairs));
        }
    }

    /// Converts 32 rows of BF16 words to a block float tile.
    ///
    /// As the host library does. `rows` begins with the first of them.
    pub fn quantise_bf16<const BITS: usize>(rows: &[u8], row_bytes: usize, tile: &mut [u8]) {
        let left = _mm512_setr_epi64(0, 2, 1, 3, 8, 10, 9, 11);
        let right = _mm512_setr_epi64(4, 6, 5, 7, 12, 14, 13, 15);
        let (exponents, datums) = tile.split_at_mut(VECTOR);
        for row in (0..SIDE).step_by(4) {
            let at = row * row_bytes;
            let x = [
                load(rows, at),
                load(rows, at + row_bytes),
                load(rows, at + 2 * row_bytes),
                load(rows, at + 3 * row_bytes),
            ];
            let shared = shared_halves(x);
            // The upper two faces come first: rows 16 to 31 are those of faces 2 and 3.
            let face_row = row / FACE * 2 * FACE + row % FACE;
            let bytes = _mm512_cvtepi32_epi8(shared);
            exponents[face_row..face_row + 4].copy_from_slice(&_mm_cvtsi128_si32(bytes).to_le_bytes());
            exponents[face_row + FACE..face_row + FACE + 4]
                .copy_from_slice(&_mm_extract_epi32::<2>(bytes).to_le_bytes());
            let a = quantise_halves::<BITS>(x[0], _mm512_shuffle_epi32::<0x00>(shared));
            let b = quantise_halves::<BITS>(x[1], _mm512_shuffle_epi32::<0x55>(shared));
            let c = quantise_halves::<BITS>(x[2], _mm512_shuffle_epi32::<0xaa>(shared));
            let d = quantise_halves::<BITS>(x[3], _mm512_shuffle_epi32::<0xff>(shared));
            let (ab, cd) = (_mm512_packus_epi16(a, b), _mm512_packus_epi16(c, d));
            store_datums::<BITS>(datums, face_row * FACE, _mm512_permutex2var_epi64(ab, left, cd));
            store_datums::<BITS>(datums, (face_row + FACE) * FACE, _mm512_permutex2var_epi64(ab, right, cd));
        }
    }

    /// Converts 32 rows of FP32 words to a block float tile.
    ///
    /// As the host library does. `rows` begins with the first of them.
    pub fn quantise_fp32<const BITS: usize>(rows: &[u8], row_bytes: usize, tile: &mut [u8]) {
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        let (exponents, datums) = tile.split_at_mut(VECTOR);
        for row in (0..SIDE).step_by(4) {
            for face in 0..2 {
                let at = row * row_bytes + face * VECTOR;
                let x = [
                    load(rows, at),
                    load(rows, at + row_bytes),
                    load(rows, at + 2 * row_bytes),
                    load(rows, at + 3 * row_bytes),
                ];
                let shared = shared_words(x);
                let face_row = (row / FACE * 2 + face) * FACE + row % FACE;
                let bytes = _mm_cvtsi128_si32(_mm512_cvtepi32_epi8(shared));
                exponents[face_row..face_row + 4].copy_from_slice(&bytes.to_le_bytes());
                let a = quantise_words::<BITS>(x[0], _mm512_shuffle_epi32::<0x00>(shared));
                let b = quantise_words::<BITS>(x[1], _mm512_shuffle_epi32::<0x55>(shared));
                let c = quantise_words::<BITS>(x[2], _mm512_shuffle_epi32::<0xaa>(shared));
                let d = quantise_words::<BITS>(x[3], _mm512_shuffle_epi32::<0xff>(shared));
                let bytes = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
                store_datums::<BITS>(datums, face_row * FACE, _mm512_permutexvar_epi32(order, bytes));
            }
        }
    }

    /// Two rows of a tile as 8-bit datums: both rows of the left face, both of the right one.
    fn load_datums<const BITS: usize>(datums: &[u8], face_row: usize) -> __m512i {
        if BITS == 8 {
            let left = _mm512_castsi256_si512(load_half(datums, face_row * FACE));
            _mm512_inserti64x4::<1>(left, load_half(datums, (face_row + FACE) * FACE))
        } else {
            let left = _mm256_castsi128_si256(load_quarter(datums, face_row * FACE / 2));
            let pairs = _mm256_inserti128_si256::<1>(left, load_quarter(datums, (face_row + FACE) * FACE / 2));
            let pairs = _mm512_cvtepu8_epi16(pairs);
            let (low, high) = (_mm512_slli_epi16::<4>(pairs), _mm512_slli_epi16::<8>(pairs));
            _mm512_ternarylogic_epi32::<OR_AND>(low, high, _mm512_set1_epi16(0xf0f0_u16 as i16))
        }
    }

    /// BF16 words from datums and exponents in the upper bytes. The magnitude moves `right` until it is in place, one
    /// bit above that, as the exponent is.
    fn bf16(x: __m512i, right: __m512i, exponent: __m512i) -> __m512i {
        let fraction = _mm512_srlv_epi16(_mm512_and_si512(x, _mm512_set1_epi16(0x7fff)), right);
        let magnitude = _mm512_srli_epi16::<1>(_mm512_add_epi16(fraction, exponent));
        _mm512_ternarylogic_epi32::<AND_OR>(x, _mm512_set1_epi16(i16::MIN), magnitude)
    }

    /// Two rows of a tile of block floats as BF16 words.
    ///
    /// The value is `magnitude * 2^(exponent - 133)`. Shifted left until its first bit stands in bit 7, the magnitude
    /// is the fraction and adds one to the exponent field below; if the exponent does not reach so far, the shift stops
    /// early and leaves a denormal.
    fn unpack_row_pair<const BITS: usize>(tile: &[u8], row: usize) -> [__m512i; 2] {
        let upper = _mm512_broadcast_i32x4(_mm_setr_epi8(-1, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0));
        let lower = _mm512_broadcast_i32x4(_mm_setr_epi8(-1, 7, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4));
        let rows = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
        let zero = _mm512_setzero_si512();
        let (exponents, datums) = tile.split_at(VECTOR);
        let face_row = row / FACE * 2 * FACE + row % FACE;
        // Both halves of a face row in the same place of two neighbouring quarters, so that the two rows unpack apart.
        let x = _mm512_permutex_epi64::<0xd8>(load_datums::<BITS>(datums, face_row));
        let first = face_row - row % FACE;
        let left = _mm256_broadcastsi128_si256(load_quarter(exponents, first));
        let right = _mm256_broadcastsi128_si256(load_quarter(exponents, first + FACE));
        let faces = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(left), right);
        let shared = _mm512_shuffle_epi8(faces, _mm512_add_epi8(rows, _mm512_set1_epi8((row % FACE) as i8)));

        let nibble = _mm512_set1_epi8(0xf);
        let high = _mm512_and_si512(_mm512_srli_epi16::<4>(x), _mm512_set1_epi8(7));
        let zeros = _mm512_min_epu8(
            _mm512_shuffle_epi8(upper, high),
            _mm512_shuffle_epi8(lower, _mm512_and_si512(x, nibble)),
        );
        // A magnitude of zero counts as 255 zeros and takes the whole exponent away.
        let shift = _mm512_min_epu8(zeros, shared);
        let exponent = _mm512_sub_epi8(shared, shift);
        let right = _mm512_sub_epi8(_mm512_set1_epi8(7), shift);
        [
            bf16(
                _mm512_unpacklo_epi8(zero, x),
                _mm512_unpacklo_epi8(right, zero),
                _mm512_unpacklo_epi8(zero, exponent),
            ),
            bf16(
                _mm512_unpackhi_epi8(zero, x),
                _mm512_unpackhi_epi8(right, zero),
                _mm512_unpackhi_epi8(zero, exponent),
            ),
        ]
    }

    /// Converts a block float tile to 32 rows of BF16 words.
    ///
    /// As the host library does. `rows` begins with the first of them.
    pub fn unpack_bf16<const BITS: usize>(tile: &[u8], rows: &mut [u8], row_bytes: usize) {
        for row in (0..SIDE).step_by(2) {
            let [a, b] = unpack_row_pair::<BITS>(tile, row);
            store(rows, row * row_bytes, a);
            store(rows, (row + 1) * row_bytes, b);
        }
    }

    /// Converts a block float tile to 32 rows of FP32 words.
    ///
    /// As the host library does. `rows` begins with the first of them.
    pub fn unpack_fp32<const BITS: usize>(tile: &[u8], rows: &mut [u8], row_bytes: usize) {
        for row in (0..SIDE).step_by(2) {
            let [a, b] = unpack_row_pair::<BITS>(tile, row);
            store_words(rows, row * row_bytes, a);
            store_words(rows, (row + 1) * row_bytes, b);
        }
    }

    /// BF16 words as FP32 words.
    fn store_words(rows: &mut [u8], at: usize, halves: __m512i) {
        let left = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(halves));
        let right = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(halves));
        store(rows, at, _mm512_slli_epi32::<16>(left));
        store(rows, at + VECTOR, _mm512_slli_epi32::<16>(right));
    }
}
