//! Tiles: which shapes there are, and where a datum lies in one.
//!
//! A tile is made of faces of 16 columns and up to 16 rows, stored one after the other, row-major over the tile; inside
//! a face datums are row-major. Source: `docs/chip/numerics.md` section 1, tt-metal `tech_reports/tensor_layouts`.

/// Rows and columns of a full face.
pub const FACE_SIDE: usize = 16;

/// Height and width of a tile in datums.
///
/// Only the shapes that the hardware takes can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    height: usize,
    width: usize,
}

impl TileShape {
    /// The usual tile, 32x32.
    pub const FULL: Self = Self { height: 32, width: 32 };

    /// Every shape that the hardware takes.
    pub const ALL: [Self; 9] = [
        Self::FULL,
        Self { height: 16, width: 32 },
        Self { height: 32, width: 16 },
        Self { height: 16, width: 16 },
        Self { height: 8, width: 32 },
        Self { height: 4, width: 32 },
        Self { height: 2, width: 32 },
        Self { height: 1, width: 32 },
        Self { height: 8, width: 16 },
    ];

    /// The shape of this height and width, if the hardware takes it.
    pub fn new(height: usize, width: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| (shape.height, shape.width) == (height, width))
    }

    /// Shapes that only host tensors have: no unpacker takes them.
    pub const OF_HOST: [Self; 3] =
        [Self { height: 4, width: 16 }, Self { height: 2, width: 16 }, Self { height: 1, width: 16 }];

    /// The shape of this height and width, if tensors have it.
    pub fn of_tensor(height: usize, width: usize) -> Option<Self> {
        let mut known = Self::ALL.into_iter().chain(Self::OF_HOST);
        known.find(|shape| (shape.height, shape.width) == (height, width))
    }

    /// Rows.
    pub const fn height(self) -> usize {
        self.height
    }

    /// Columns.
    pub const fn width(self) -> usize {
        self.width
    }

    /// Datums of a tile.
    pub const fn datums(self) -> usize {
        self.height * self.width
    }

    /// Rows of a face: 16, or fewer if the tile is lower.
    pub const fn face_height(self) -> usize {
        if self.height < FACE_SIDE { self.height } else { FACE_SIDE }
    }

    /// Columns of a face.
    pub const fn face_width(self) -> usize {
        FACE_SIDE
    }

    /// Rows and columns of the grid of faces.
    pub const fn face_grid(self) -> (usize, usize) {
        (self.height / self.face_height(), self.width / FACE_SIDE)
    }

    /// Datums of a face.
    pub const fn face_datums(self) -> usize {
        self.face_height() * FACE_SIDE
    }

    /// Place in memory order of the datum at (row, column).
    pub const fn index(self, row: usize, column: usize) -> usize {
        debug_assert!(row < self.height && column < self.width);
        let face = (row / self.face_height()) * (self.width / FACE_SIDE) + column / FACE_SIDE;
        face * self.face_datums() + (row % self.face_height()) * FACE_SIDE + column % FACE_SIDE
    }

    /// Row and column of the datum at a place in memory order.
    pub const fn position(self, index: usize) -> (usize, usize) {
        debug_assert!(index < self.datums());
        let (face, inside) = (index / self.face_datums(), index % self.face_datums());
        let faces_across = self.width / FACE_SIDE;
        let row = (face / faces_across) * self.face_height() + inside / FACE_SIDE;
        (row, (face % faces_across) * FACE_SIDE + inside % FACE_SIDE)
    }

    /// The tile in memory order, from its rows one after the other.
    ///
    /// # Panics
    /// If a slice does not hold exactly one tile.
    pub fn tilize<T: Copy>(self, row_major: &[T], tile: &mut [T]) {
        self.for_each_face_row(row_major.len(), tile.len(), |from, to| {
            tile[to..to + FACE_SIDE].copy_from_slice(&row_major[from..from + FACE_SIDE]);
        });
    }

    /// The rows of a tile in order, from its memory order.
    ///
    /// # Panics
    /// If a slice does not hold exactly one tile.
    pub fn untilize<T: Copy>(self, tile: &[T], row_major: &mut [T]) {
        self.for_each_face_row(row_major.len(), tile.len(), |to, from| {
            row_major[to..to + FACE_SIDE].copy_from_slice(&tile[from..from + FACE_SIDE]);
        });
    }

    fn for_each_face_row(self, row_major: usize, tile: usize, mut visit: impl FnMut(usize, usize)) {
        assert!(row_major == self.datums() && tile == self.datums(), "a tile has {} datums", self.datums());
        for row in 0..self.height {
            for column in (0..self.width).step_by(FACE_SIDE) {
                visit(row * self.width + column, self.index(row, column));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_indices_are_inverse_for_every_shape() {
        for shape in TileShape::ALL.into_iter().chain(TileShape::OF_HOST) {
            for index in 0..shape.datums() {
                let (row, column) = shape.position(index);
                assert_eq!(shape.index(row, column), index, "{shape:?}");
            }
        }
    }

    #[test]
    fn faces_of_the_usual_tile_are_row_major() {
        let shape = TileShape::FULL;
        assert_eq!(shape.index(0, 16), 256);
        assert_eq!(shape.index(16, 0), 512);
        assert_eq!(shape.index(31, 31), 1023);
        assert_eq!(shape.index(1, 0), 16);
    }

    #[test]
    fn narrow_and_low_tiles_have_the_faces_of_their_size() {
        let narrow = TileShape::new(32, 16).expect("valid");
        assert_eq!((narrow.face_grid(), narrow.index(16, 0)), ((2, 1), 256));
        let low = TileShape::new(4, 32).expect("valid");
        assert_eq!((low.face_grid(), low.index(0, 16)), ((1, 2), 64));
        assert_eq!(TileShape::new(32, 64), None);
        assert_eq!(TileShape::new(1, 16), None);
        assert_eq!(TileShape::of_tensor(1, 16).map(TileShape::face_grid), Some((1, 1)));
        assert_eq!(TileShape::of_tensor(1, 8), None);
    }

    #[test]
    fn tilize_and_untilize_are_inverse_for_every_shape() {
        for shape in TileShape::ALL {
            let rows: Vec<usize> = (0..shape.datums()).collect();
            let (mut tile, mut back) = (rows.clone(), rows.clone());
            shape.tilize(&rows, &mut tile);
            assert!(tile.iter().enumerate().all(|(i, &at)| shape.position(i) == (at / shape.width, at % shape.width)));
            shape.untilize(&tile, &mut back);
            assert_eq!(back, rows);
        }
    }
}
