//! Tokens on their way to chips with their experts, and back.
//!
//! A mapping tensor has a row for each expert and a column for each chip, 1 where the expert is; metadata has the experts
//! of each token. Both are 16-bit integers in rows, and every chip reads its own copy.
//! Source: tt-metal `ttnn/cpp/ttnn/operations/ccl/all_to_all_dispatch`, `all_to_all_combine`, and
//! `ttnn/cpp/ttnn/operations/data_movement/moe_expert_token_remap`, `moe_routing_remap`.
use tt_memory::access::Pages;
use tt_memory::{BufferId, Device};

use super::{Groups, pages_of_chips};
use crate::{OpError, for_each_page};

/// Chips that exchange tokens.
#[derive(Clone, Debug)]
pub struct Routes {
    groups: Groups,
    columns: Vec<usize>,
}

impl Routes {
    /// Routes in groups.
    ///
    /// Columns are those of a mapping tensor, one for each chip, in the order of the groups.
    ///
    /// # Errors
    /// Another number of columns than of chips.
    pub fn new(groups: Groups, columns: Vec<usize>) -> Result<Self, OpError> {
        if columns.len() != groups.chips() {
            let what = format!("{} columns for {} chips", columns.len(), groups.chips());
            return Err(OpError::Invariant { operator: "moe", what });
        }
        Ok(Self { groups, columns })
    }
}

/// 16-bit integers of a row.
fn words(row: &[u8]) -> impl Iterator<Item = usize> {
    row.chunks_exact(2).map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])))
}

/// Checks sizes, and says which do not fit.
fn require(operator: &'static str, fits: bool, what: impl FnOnce() -> String) -> Result<(), OpError> {
    if fits { Ok(()) } else { Err(OpError::Invariant { operator, what: what() }) }
}

/// Number of pages and bytes of a page.
fn sizes(device: &Device, buffer: BufferId) -> Result<(usize, usize), OpError> {
    let buffer = device.buffer(buffer)?;
    Ok((buffer.num_pages(), buffer.page_bytes()))
}

/// Buffers of [`dispatch`].
#[derive(Clone, Copy, Debug)]
pub struct DispatchBuffers {
    /// Tokens of each chip, a row for each.
    pub tokens: BufferId,
    /// Experts of each token.
    pub experts: BufferId,
    /// Chips of each expert.
    pub mapping: BufferId,
    /// Tokens of all chips of the group that have an expert here.
    pub sent: BufferId,
    /// Experts of the tokens of all chips.
    pub metadata: BufferId,
}

/// Sends tokens to the chips of their group with their experts.
///
/// Rows of tokens that go elsewhere keep what they had.
///
/// # Errors
/// An expert that the mapping does not have; buffers of other sizes; memory.
pub fn dispatch(device: &mut Device, routes: &Routes, buffers: DispatchBuffers) -> Result<(), OpError> {
    let Routes { groups, columns } = routes;
    let count = groups.size();
    let (tokens, bytes) = sizes(device, buffers.tokens)?;
    let (index_rows, index_bytes) = sizes(device, buffers.experts)?;
    let (experts, mapping_bytes) = sizes(device, buffers.mapping)?;
    let all = tokens.saturating_mul(count);
    let fits = index_rows == tokens
        && sizes(device, buffers.sent)? == (all, bytes)
        && sizes(device, buffers.metadata)? == (all, index_bytes)
        && columns.iter().all(|&column| column < mapping_bytes / 2)
        && count <= u64::BITS as usize;
    require("all_to_all_dispatch", fits, || format!("{tokens} tokens, {index_rows} rows of experts, {count} chips"))?;
    let access = device.access_all(&[buffers.sent, buffers.metadata])?;
    let [rows, indices, mapping] = [buffers.tokens, buffers.experts, buffers.mapping]
        .map(|buffer| pages_of_chips(&access, buffer, groups.places()));
    let (rows, indices, mapping) = (rows?, indices?, mapping?);
    // A bit for each chip of the group to which a token goes.
    let mut goes = Vec::with_capacity(groups.chips() * tokens);
    for number in 0..groups.chips() {
        let (group, member) = groups.member(number);
        let chip = group[member];
        let (Some(indices), Some(mapping)) = (&indices[chip], &mapping[chip]) else { continue };
        let columns = &columns[number - member..][..count];
        for token in 0..tokens {
            let mut bits = 0u64;
            for expert in words(indices.page(token)) {
                if expert >= experts {
                    return Err(OpError::Index { index: expert as u32, rows: experts });
                }
                let row = mapping.page(expert);
                for (place, &column) in columns.iter().enumerate() {
                    bits |= u64::from(row[2 * column..2 * column + 2] == [1, 0]) << place;
                }
            }
            goes.push(bits);
        }
    }
    for_each_page(
        groups.chips() * all,
        || (),
        |(), item| {
            let (number, row) = (item / all, item % all);
            let (group, member) = groups.member(number);
            let (sender, token) = (row / tokens, row % tokens);
            let from = |pages: &[Option<Pages<'_>>], bytes: &mut [u8]| {
                if let Some(pages) = &pages[group[sender]] {
                    bytes.copy_from_slice(pages.page(token));
                }
            };
            let here = &access[group[member]];
            if !here.is_own() {
                return Ok(());
            }
            from(&indices, here.claim(buffers.metadata, row)?);
            if goes[(number - member + sender) * tokens + token] >> member & 1 == 1 {
                from(&rows, here.claim(buffers.sent, row)?);
            }
            Ok(())
        },
    )
}

/// Experts of a chip, in order: at most `most`.
fn experts_of(mapping: &Pages<'_>, experts: usize, column: usize, most: usize) -> Vec<usize> {
    let here = |&expert: &usize| mapping.page(expert)[2 * column..2 * column + 2] == [1, 0];
    (0..experts).filter(here).take(most).collect()
}

/// Buffers of [`combine`].
#[derive(Clone, Copy, Debug)]
pub struct CombineBuffers {
    /// Results of a chip's experts for all tokens.
    ///
    /// A row for each expert and token, or for each token.
    pub results: BufferId,
    /// Experts of the tokens of all chips.
    pub metadata: BufferId,
    /// Chips of each expert.
    pub mapping: BufferId,
    /// Results of all experts for the chip's own tokens.
    ///
    /// A row for each of a token's experts and token.
    pub combined: BufferId,
}

/// Sends results of experts back to the chips of the tokens.
///
/// With `reduced` a chip's experts have one row for each token together, which goes to the place of the first of them.
/// Where two chips have an expert, the row of the later chip stays. Rows without one keep what they had.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn combine(
    device: &mut Device,
    routes: &Routes,
    local: usize,
    reduced: bool,
    buffers: CombineBuffers,
) -> Result<(), OpError> {
    let Routes { groups, columns } = routes;
    let count = groups.size();
    let (rows, bytes) = sizes(device, buffers.results)?;
    let (tokens, index_bytes) = sizes(device, buffers.metadata)?;
    let (experts, mapping_bytes) = sizes(device, buffers.mapping)?;
    let (own, chosen) = (tokens / count, index_bytes / 2);
    let fits = rows >= if reduced { tokens } else { tokens.saturating_mul(local) }
        && own * count == tokens
        && sizes(device, buffers.combined)? == (own.saturating_mul(chosen), bytes)
        && columns.iter().all(|&column| column < mapping_bytes / 2);
    require("all_to_all_combine", fits, || {
        format!("{rows} rows of {local} experts for {tokens} tokens, {count} chips")
    })?;
    let access = device.access_all(&[buffers.combined])?;
    let [results, metadata, mapping] = [buffers.results, buffers.metadata, buffers.mapping]
        .map(|buffer| pages_of_chips(&access, buffer, groups.places()));
    let (results, metadata, mapping) = (results?, metadata?, mapping?);
    // Where each row of the result comes from: chip and page.
    let mut sources = vec![None; groups.chips() * own * chosen];
    for (number, &column) in columns.iter().enumerate() {
        let (group, member) = groups.member(number);
        let chip = group[member];
        let (Some(metadata), Some(mapping)) = (&metadata[chip], &mapping[chip]) else { continue };
        let here = experts_of(mapping, experts, column, local);
        for token in 0..tokens {
            let of_token: Vec<usize> = words(metadata.page(token)).collect();
            for (place, expert) in here.iter().enumerate() {
                let Some(choice) = of_token.iter().position(|other| other == expert) else { continue };
                let target = ((number - member + token / own) * chosen + choice) * own + token % own;
                sources[target] = Some((chip, if reduced { token } else { place * tokens + token }));
                if reduced {
                    break;
                }
            }
        }
    }
    let all = own * chosen;
    for_each_page(
        sources.len(),
        || (),
        |(), item| {
            let (group, member) = groups.member(item / all);
            let Some((chip, page)) = sources[item] else { return Ok(()) };
            let here = &access[group[member]];
            if let (true, Some(pages)) = (here.is_own(), &results[chip]) {
                here.claim(buffers.combined, item % all)?.copy_from_slice(pages.page(page));
            }
            Ok(())
        },
    )
}

/// Buffers of [`local_scores`].
#[derive(Clone, Copy, Debug)]
pub struct ScoreBuffers {
    /// Scores of all experts, a row for each token.
    pub scores: BufferId,
    /// Chips of each expert.
    pub mapping: BufferId,
    /// Experts of each token.
    pub metadata: BufferId,
    /// Scores of the chip's experts, zero where they are not chosen.
    pub local: BufferId,
    /// 1 where one of some tokens has chosen a local expert.
    pub used: BufferId,
}

/// Writes each chip's part of the scores of all experts.
///
/// A row of `used` is that of `together` tokens.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn local_scores(
    device: &mut Device,
    routes: &Routes,
    together: usize,
    buffers: ScoreBuffers,
) -> Result<(), OpError> {
    let Routes { groups, columns } = routes;
    let (tokens, bytes) = sizes(device, buffers.scores)?;
    let (index_rows, _) = sizes(device, buffers.metadata)?;
    let (experts, mapping_bytes) = sizes(device, buffers.mapping)?;
    let (local_rows, local_bytes) = sizes(device, buffers.local)?;
    let (used_rows, used_bytes) = sizes(device, buffers.used)?;
    let (element, local) = (bytes / experts.max(1), used_bytes / 2);
    let fits = together > 0
        && element > 0
        && element * experts == bytes
        && local * element == local_bytes
        && index_rows == tokens
        && local_rows == tokens
        && used_rows.saturating_mul(together) == tokens
        && columns.iter().all(|&column| column < mapping_bytes / 2);
    require("moe_expert_token_remap", fits, || {
        format!("{tokens} tokens, {experts} experts, {used_rows} rows of {together}")
    })?;
    let access = device.access_all(&[buffers.local, buffers.used])?;
    let [scores, metadata, mapping] = [buffers.scores, buffers.metadata, buffers.mapping]
        .map(|buffer| pages_of_chips(&access, buffer, groups.places()));
    let (scores, metadata, mapping) = (scores?, metadata?, mapping?);
    for_each_page(
        groups.chips() * used_rows,
        || (),
        |(), item| {
            let (number, row_of_used) = (item / used_rows, item % used_rows);
            let (group, member) = groups.member(number);
            let chip = group[member];
            let (Some(scores), Some(metadata), Some(mapping)) = (&scores[chip], &metadata[chip], &mapping[chip]) else {
                return Ok(());
            };
            if !access[chip].is_own() {
                return Ok(());
            }
            let here = experts_of(mapping, experts, columns[number], local);
            let used = access[chip].claim(buffers.used, row_of_used)?;
            used.fill(0);
            for token in row_of_used * together..(row_of_used + 1) * together {
                let (from, to) = (scores.page(token), access[chip].claim(buffers.local, token)?);
                to.fill(0);
                for (place, &expert) in here.iter().enumerate() {
                    if words(metadata.page(token)).any(|other| other == expert) {
                        to[place * element..][..element].copy_from_slice(&from[expert * element..][..element]);
                        used[2 * place] = 1;
                    }
                }
            }
            Ok(())
        },
    )
}

/// Writes each chip's share of the weights that are not zero.
///
/// It is `count` of them, after those of the chips before it.
///
/// # Errors
/// Buffers of other sizes; memory.
pub fn share_weights(
    device: &mut Device,
    groups: &Groups,
    (element, count): (usize, usize),
    input: BufferId,
    output: BufferId,
) -> Result<(), OpError> {
    let size = sizes(device, input)?;
    let fits = size.0 == 1 && size == sizes(device, output)? && element > 0 && size.1 % element == 0;
    require("moe_routing_remap", fits, || format!("{} pages of {} B, elements of {element} B", size.0, size.1))?;
    let access = device.access_all(&[output])?;
    let weights = pages_of_chips(&access, input, groups.places())?;
    for_each_page(
        groups.chips(),
        || (),
        |(), number| {
            let (group, member) = groups.member(number);
            let here = &access[group[member]];
            let (true, Some(weights)) = (here.is_own(), &weights[group[member]]) else { return Ok(()) };
            let to = here.claim(output, 0)?;
            to.fill(0);
            let pairs = weights.page(0).chunks_exact(element).zip(to.chunks_exact_mut(element));
            let others = pairs.filter(|(from, _)| from.iter().any(|&byte| byte != 0));
            for (from, to) in others.skip(member.saturating_mul(count)).take(count) {
                to.copy_from_slice(from);
            }
            Ok(())
        },
    )
}
