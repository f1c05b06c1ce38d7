//! The network on rows with few differences, as with padding.
//!
//! A row at a time, 32 pairs of its tiles together.
//!
//! A step compares the same places of every pair, so that pairs of one row can stand where [`super::network`] has rows.

use tt_cpu::Level;

use super::network::{Elements, Lane, ROWS, TILE, local_sort};

/// Maximum number of rows where one by one is faster.
pub const FEW: usize = 8;

/// Elements of a pair of tiles.
const PAIR: usize = 2 * TILE;

/// Returns the number of distinct rows to sort.
///
/// Those after the last of them are equal to it.
pub fn different(keys: &[Lane]) -> usize {
    let mut unlike = [0; ROWS];
    for lane in keys {
        for row in 1..ROWS {
            unlike[row] |= lane[row] ^ lane[row - 1];
        }
    }
    unlike.iter().rposition(|&bits| bits != 0).map_or(1, |row| row + 1)
}

/// One row and where its elements came from.
pub struct Row {
    keys: Vec<u32>,
    indices: Vec<u32>,
    block: [Vec<Lane>; 2],
}

impl Row {
    /// Row `row` of these elements.
    pub fn of(keys: &[Lane], indices: &[Lane], row: usize) -> Self {
        let one = |lanes: &[Lane]| lanes.iter().map(|lane| lane[row]).collect();
        let block = [vec![[0; ROWS]; PAIR], vec![[0; ROWS]; PAIR]];
        Self { keys: one(keys), indices: one(indices), block }
    }

    /// Writes the row back, into all rows that are equal to it.
    pub fn store(&self, keys: &mut [Lane], indices: &mut [Lane], rows: std::ops::Range<usize>) {
        for (lanes, words) in [(keys, &self.keys), (indices, &self.indices)] {
            for (lane, &word) in lanes.iter_mut().zip(words) {
                lane[rows.clone()].fill(word);
            }
        }
    }

    /// Sorts pairs of tiles that have the same direction.
    pub fn sort_pairs(&mut self, level: Level, pairs: &[usize], ascending: bool) {
        let [keys, indices] = &mut self.block;
        for pairs in pairs.chunks(ROWS) {
            for (line, &pair) in pairs.iter().enumerate() {
                for e in 0..PAIR {
                    keys[e][line] = self.keys[pair * PAIR + e];
                    indices[e][line] = self.indices[pair * PAIR + e];
                }
            }
            local_sort(level, &mut Elements { keys, indices }, ascending);
            for (line, &pair) in pairs.iter().enumerate() {
                for e in 0..PAIR {
                    self.keys[pair * PAIR + e] = keys[e][line];
                    self.indices[pair * PAIR + e] = indices[e][line];
                }
            }
        }
    }

    /// [`super::network::exchange_tiles`] of this row.
    pub fn exchange_tiles(&mut self, first: usize, second: usize, ascending: bool) {
        let (low, high) = self.keys.split_at_mut(second * TILE);
        let (kc, kd) = (&mut low[first * TILE..][..TILE], &mut high[..TILE]);
        let (low, high) = self.indices.split_at_mut(second * TILE);
        let (ic, id) = (&mut low[first * TILE..][..TILE], &mut high[..TILE]);
        for place in 0..TILE {
            // In a block that ascends all change places afterwards.
            let exchange = ((kc[place] as i32) < kd[place] as i32) != ascending;
            let mask = 0_u32.wrapping_sub(u32::from(exchange));
            let (keys, indices) = ((kc[place] ^ kd[place]) & mask, (ic[place] ^ id[place]) & mask);
            kc[place] ^= keys;
            kd[place] ^= keys;
            ic[place] ^= indices;
            id[place] ^= indices;
        }
    }
}

#[cfg(test)]
mod tests {
    use tt_testkit::random::Random;

    use super::super::merge;
    use super::super::network::exchange_tiles;
    use super::*;

    #[test]
    fn rows_one_by_one_are_rows_together() {
        let (mut random, level) = (Random::new(5), Level::current());
        for (tiles, few) in [(2, 1), (4, 3), (16, 2), (64, 8)] {
            for values in [2, 40, u32::MAX] {
                let mut keys = vec![[0; ROWS]; tiles * TILE];
                let mut indices: Vec<Lane> = (0..).map(|index| [index; ROWS]).take(keys.len()).collect();
                for lane in &mut keys {
                    for row in 0..few {
                        lane[row..].fill(random.below(values).wrapping_sub(values / 2));
                    }
                }
                assert!(different(&keys) <= few);
                let rows = different(&keys);
                for ascending in [false, true] {
                    let (mut all, mut from) = (keys.clone(), indices.clone());
                    merge(
                        (tiles, ascending),
                        &mut Elements { keys: &mut all, indices: &mut from },
                        |elements, pairs, ascending| {
                            for pair in pairs {
                                let range = pair * PAIR..(pair + 1) * PAIR;
                                let (keys, indices) = (&mut elements.keys[range.clone()], &mut elements.indices[range]);
                                local_sort(level, &mut Elements { keys, indices }, ascending);
                            }
                        },
                        exchange_tiles,
                    );
                    let (before, start) = (keys.clone(), indices.clone());
                    for row in 0..rows {
                        let mut one = Row::of(&before, &start, row);
                        let sort = |one: &mut Row, pairs: &[usize], ascending| one.sort_pairs(level, pairs, ascending);
                        merge((tiles, ascending), &mut one, sort, Row::exchange_tiles);
                        let alike = if row + 1 == rows { row..ROWS } else { row..row + 1 };
                        one.store(&mut keys, &mut indices, alike);
                    }
                    assert!(keys == all && indices == from, "{tiles} tiles, {values} values, ascending {ascending}");
                    (keys, indices) = (before, start);
                }
            }
        }
    }
}
