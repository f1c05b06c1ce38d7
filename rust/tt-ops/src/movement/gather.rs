//! Movements between 32 x 32 tiles that give dimensions another order: every datum of an output tile has a place of its own
//! in the input.
//!
//! Within an output tile an index of the input's rows or columns chooses the place in a tile, and an index of any other
//! dimension chooses the tile, so that page and place are sums of what the row and the column ask for. They give the same
//! bytes as the general way, which divides positions for every datum.

use tt_formats::{DataFormat, TileShape, unpack as read};
use tt_memory::Access;

use super::whole::flush_bytes;
use super::{EXPONENTS, Geometry, LINE, Movement, SIDE, Target};
use crate::OpError;

/// What an index of a dimension adds to the place of a datum.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A dimension of one index.
    None,
    /// So many pages for each.
    Leading(usize),
    /// Rows of the input, whose tile rows are so many pages apart.
    Rows(usize),
    /// Columns of the input.
    Columns,
}

impl Step {
    /// Pages and datums.
    fn at(self, index: usize) -> (usize, usize) {
        match self {
            Self::None => (0, 0),
            Self::Leading(pages) => (index * pages, 0),
            Self::Rows(pages) => (index / SIDE * pages, TileShape::FULL.index(index % SIDE, 0)),
            Self::Columns => (index / SIDE, TileShape::FULL.index(0, index % SIDE)),
        }
    }

    fn chooses_tiles(self) -> bool {
        matches!(self, Self::Leading(_))
    }
}

/// How a datum is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Datum {
    Bytes2,
    Bytes4,
    /// `BFP8_b`, to bfloat16.
    Block,
}

/// A movement of this kind.
pub(super) struct Gather {
    datum: Datum,
    /// Of each output dimension.
    steps: Vec<Step>,
}

impl Gather {
    /// Recognises the movement.
    pub fn new(movement: &Movement) -> Option<Self> {
        let (input, output) = (&movement.input, &movement.output);
        let full = Some(TileShape::FULL);
        let (rank, rank_in) = (output.shape.len(), input.shape.len());
        if rank < 2 || rank_in < 2 || (input.tile, output.tile) != (full, full) || movement.offset != 0 {
            return None;
        }
        let datum = match (input.format, output.format) {
            (DataFormat::Bfp8B, DataFormat::Float16B) => Datum::Block,
            (from, to) if from != to || to.is_block_float() => return None,
            (_, to) => match to.element_bytes()? {
                2 => Datum::Bytes2,
                4 => Datum::Bytes4,
                _ => return None,
            },
        };
        let whole = movement.window.iter().zip(&output.shape).all(|(&window, &length)| window == (0, length));
        if !whole || output.shape.iter().product::<usize>() != input.shape.iter().product() {
            return None;
        }
        let (tile_rows, tile_columns) =
            (input.shape[rank_in - 2].div_ceil(SIDE), input.shape[rank_in - 1].div_ceil(SIDE));
        // The distance of neighbours along each dimension of the input, and the step.
        let (mut stride, mut pages) = (1, tile_rows * tile_columns);
        let mut known = Vec::with_capacity(rank_in);
        for (axis, &length) in input.shape.iter().enumerate().rev() {
            let step = match rank_in - 1 - axis {
                0 => Step::Columns,
                1 => Step::Rows(tile_columns),
                _ => Step::Leading(pages),
            };
            known.push((stride as i64, length, step));
            stride *= length;
            pages *= if axis + 2 < rank_in { length } else { 1 };
        }
        // Of dimensions with several indices no two have the same distance; together they have all datums.
        let step = |(&stride, &length): (&i64, &usize)| {
            let found = known.iter().find(|&&(of, count, _)| (of, count) == (stride, length));
            if length == 1 { Some(Step::None) } else { found.map(|&(_, _, step)| step) }
        };
        let steps = movement.strides.iter().zip(&output.shape).map(step).collect::<Option<Vec<_>>>()?;
        Some(Self { datum, steps })
    }

    /// Writes an output page.
    pub fn page(&self, access: &Access<'_>, target: &Target<'_>, page: usize) -> Result<(), OpError> {
        match self.datum {
            Datum::Bytes2 => self.gather(access, target, page, datum::<2>),
            Datum::Bytes4 => self.gather(access, target, page, datum::<4>),
            Datum::Block => self.gather(access, target, page, |bytes, at| {
                let word = read::bfp8_b_to_bf16(bytes[EXPONENTS + at].into(), bytes[at / LINE].into());
                (word as u16).to_le_bytes()
            }),
        }
    }

    #[inline(always)]
    fn gather<const UNIT: usize>(
        &self,
        access: &Access<'_>,
        target: &Target<'_>,
        page: usize,
        datum: impl Fn(&[u8], usize) -> [u8; UNIT],
    ) -> Result<(), OpError> {
        let (movement, output) = (target.movement, &target.geometry);
        let input = access.input(movement.input.buffer)?;
        let bytes = access.claim(movement.output.buffer, page)?;
        let (first, [rows, columns]) = tile_of(output, page);
        let padding: [u8; UNIT] = std::array::from_fn(|i| movement.padding.to_le_bytes()[i]);
        let out = bytes.as_chunks_mut::<UNIT>().0;
        if [rows, columns] != [SIDE, SIDE] {
            out.fill(padding);
        }
        let (inner, outer) = self.steps.split_at(self.steps.len() - 2);
        let [down, across] = [outer[0], outer[1]];
        let (mut page, mut place) = (0, 0);
        let mut rest = first[0];
        for (step, &length) in inner.iter().zip(&movement.output.shape).rev() {
            page += step.at(rest % length).0;
            place += step.at(rest % length).1;
            rest /= length;
        }
        let at_row: [_; SIDE] = std::array::from_fn(|row| down.at(first[1] + row));
        let at_column: [_; SIDE] = std::array::from_fn(|column| across.at(first[2] + column));
        // Where rows do not choose the tile, all of them take the datums of a column from the same one.
        let mut tiles: [&[u8]; SIDE] = [&[]; SIDE];
        for row in 0..rows {
            let (pages, datums) = at_row[row];
            if row == 0 || down.chooses_tiles() {
                for column in 0..columns {
                    tiles[column] = if column == 0 || across.chooses_tiles() {
                        input.page(page + pages + at_column[column].0)?
                    } else {
                        tiles[0]
                    };
                }
            }
            for half in (0..columns).step_by(LINE) {
                let count = (columns - half).min(LINE);
                let line = &mut out[TileShape::FULL.index(row, half)..][..count];
                let sources = tiles[half..].iter().zip(&at_column[half..]);
                for (to, (tile, at)) in line.iter_mut().zip(sources) {
                    *to = datum(tile, place + datums + at.1);
                }
                if target.flush {
                    flush_bytes(line.as_flattened_mut());
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn datum<const UNIT: usize>(bytes: &[u8], at: usize) -> [u8; UNIT] {
    bytes.as_chunks::<UNIT>().0[at]
}

/// Matrix, first row and first column of an output tile, and how many of its rows and columns are not padding.
fn tile_of(output: &Geometry, page: usize) -> ([usize; 3], [usize; 2]) {
    let (column, row) = (page % output.tile_columns * SIDE, page / output.tile_columns % output.tile_rows * SIDE);
    let extent = [output.height - row, output.width - column].map(|length| length.min(SIDE));
    ([page / output.tile_columns / output.tile_rows, row, column], extent)
}
