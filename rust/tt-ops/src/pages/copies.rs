//! Copies of whole pages, in the host memory's quickest order.

use std::ops::Range;

use tt_cpu::pool;
use tt_cpu::stream::{self, STREAM_BYTES};
use tt_memory::access::{Output, Pages};
use tt_memory::{Access, BufferId};

use super::each::for_each_page;
use super::groups::Groups;
use super::output::{Share, lie_alike};
use crate::OpError;

/// Input pages that follow each other become pages of the output that do so, too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    target: usize,
    source: usize,
    count: usize,
}

/// Copies of pages of an input to pages of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCopies(Vec<Run>);

impl PageCopies {
    /// Adds copies of pages that follow each other on both sides.
    pub fn push(&mut self, target: usize, source: usize, count: usize) {
        match self.0.last_mut() {
            Some(last) if (last.target + last.count, last.source + last.count) == (target, source) => {
                last.count += count;
            }
            _ => self.0.push(Run { target, source, count }),
        }
    }

    /// Makes the copies, on all threads.
    ///
    /// Pages of both sides have the same size.
    ///
    /// # Errors
    /// Memory errors; an output page that is named twice.
    ///
    /// # Panics
    /// If the input does not have the pages.
    pub fn run(&self, pages: &Pages<'_>, access: &Access<'_>, output: BufferId) -> Result<(), OpError> {
        let target = access.output(output)?;
        let copy = Copy {
            pages,
            target: &target,
            groups: Groups::of(target.buffer(), 1),
            past: target.buffer().bytes() >= STREAM_BYTES as u64,
            alike: lie_alike(pages, &target),
        };
        let count: usize = self.0.iter().map(|run| run.count).sum();
        let most = count.div_ceil(if pool::threads() == 1 { 1 } else { 4 * pool::threads() }).clamp(1, MOST);
        let mut runs = Vec::with_capacity(self.0.len());
        for run in &self.0 {
            runs.extend((0..run.count).step_by(most).map(|first| Run {
                target: run.target + first,
                source: run.source + first,
                count: most.min(run.count - first),
            }));
        }
        // Runs whose pages follow each other in the output are made together, up to so many pages.
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut size = 0;
        for (number, run) in runs.iter().enumerate() {
            let follows = number > 0 && runs[number - 1].target + runs[number - 1].count == run.target;
            size = if follows && size + run.count <= most { size + run.count } else { run.count };
            match parts.last_mut() {
                Some(part) if size > run.count => part.end = number + 1,
                _ => parts.push(number..number + 1),
            }
        }
        // Short ones are taken several at a time.
        let together = (parts.len() * TOGETHER / count.max(1)).clamp(1, TOGETHER);
        let batches: Vec<_> = parts.chunks(together).collect();
        for_each_page(
            batches.len(),
            || Share,
            |_, batch| batches[batch].iter().try_for_each(|part| copy.part(&runs[part.clone()])),
        )
    }
}

/// Most pages of a part: see [`Groups`].
const MOST: usize = 1 << 16;

/// Pages of short parts that a thread takes together.
const TOGETHER: usize = 64;

/// Input pages that follow each other are copied bank by bank from so many pages for each bank on.
const LONG: usize = 4;

struct Copy<'a> {
    pages: &'a Pages<'a>,
    target: &'a Output<'a>,
    groups: Groups,
    /// Past the caches.
    past: bool,
    /// What a bank has of some pages is one piece on both sides.
    alike: bool,
}

impl Copy<'_> {
    fn part(&self, runs: &[Run]) -> Result<(), OpError> {
        let (banks, _) = self.target.gapless().unwrap_or((1, 0));
        if self.alike && runs.iter().all(|run| run.count >= LONG * banks) {
            for Run { target, source, count } in runs {
                let from = self.pages.banks(*source..source + count);
                for (from, to) in from.zip(self.target.claim_banks(*target..target + count)?) {
                    self.copy(to, from);
                }
            }
            return Ok(());
        }
        let count = runs.iter().map(|run| run.count).sum();
        if count <= banks {
            // No two of them are neighbours in memory.
            let pages = runs.iter().flat_map(|run| (0..run.count).map(|page| (run.target + page, run.source + page)));
            for (target, source) in pages {
                self.copy(self.target.claim(target)?, self.pages.page(source));
            }
            return Ok(());
        }
        let first = runs[0].target;
        let sources: Vec<usize> = runs.iter().flat_map(|run| run.source..run.source + run.count).collect();
        let mut claimed: Vec<&mut [u8]> = self.target.claim_run(first..first + count)?.collect();
        let mut places = self.groups.places(count).peekable();
        while let Some(place) = places.next() {
            // The CPU does not find out by itself: they are far apart.
            if let Some(&next) = places.peek() {
                stream::prefetch_second_all(self.pages.page(sources[next]));
            }
            self.copy(claimed[place], self.pages.page(sources[place]));
        }
        Ok(())
    }

    fn copy(&self, to: &mut [u8], from: &[u8]) {
        if self.past {
            stream::copy(to, from);
        } else {
            to.copy_from_slice(from);
        }
    }
}
