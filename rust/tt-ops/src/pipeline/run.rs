//! A program over all lines of its tensors.

use tt_memory::{BufferId, Device};

use super::lines::{Line, Lines};
use super::program::{NAME, Pass, Program, Settings, Target, Tensor, refuse};
use super::step::Step;
use super::worker::Worker;
use crate::broadcast::OutputTiles;
use crate::{OpError, for_each_page};

/// A program, which runs for every line of the domain.
pub struct Pipeline {
    program: Program,
    lines: Lines,
    outputs: usize,
}

impl Pipeline {
    /// Creates a program from passes in their order.
    ///
    /// # Errors
    /// [`OpError::Invariant`]: a pass reads what no earlier pass made, or a domain without tiles.
    pub fn new(settings: Settings, tensors: Vec<Tensor>, passes: Vec<Pass>) -> Result<Self, OpError> {
        let lines = Lines::new(&settings.domain, settings.axis)?;
        let number = |pass: &Pass| if let Target::Output(number, ..) = pass.target { number + 1 } else { 0 };
        let outputs = passes.iter().map(number).max().unwrap_or(0);
        let pipeline = Self { program: Program { settings, tensors, passes }, lines, outputs };
        // Everything that can be wrong with a program shows while its steps are made.
        pipeline.steps()?;
        Ok(pipeline)
    }

    fn steps(&self) -> Result<Vec<Step<'_>>, OpError> {
        let mut steps = Vec::with_capacity(self.program.passes.len());
        for pass in &self.program.passes {
            steps.push(Step::new(&self.program, &self.lines, &steps, pass)?);
        }
        Step::keep_lines(&mut steps);
        Ok(steps)
    }

    /// Runs the program on tensors in their order, and writes its outputs.
    ///
    /// The device is of the generation of the settings.
    ///
    /// # Errors
    /// Memory errors; buffers that do not hold the tiles that the program asks for.
    pub fn run(&self, device: &mut Device, inputs: &[BufferId], outputs: &[BufferId]) -> Result<(), OpError> {
        if device.chip().arch != self.program.settings.arch {
            return refuse(format!("the device is a {:?}", device.chip().arch));
        }
        if inputs.len() != self.program.tensors.len() || outputs.len() != self.outputs {
            return refuse(format!("{} inputs and {} outputs", inputs.len(), outputs.len()));
        }
        let steps = self.steps()?;
        let tiles = OutputTiles::new(NAME, &self.program.settings.domain, self.lines.tiles())?;
        for (&id, tensor) in inputs.iter().zip(&self.program.tensors) {
            let pages = device.buffer(id)?.num_pages();
            match tensor {
                Tensor::Broadcast(_, shape, _) => drop(OutputTiles::new(NAME, shape, pages)?),
                Tensor::Rotated(..) => drop(OutputTiles::new(NAME, &self.program.settings.domain, pages)?),
                Tensor::Lines(_, columns) if pages == *columns || pages == columns * self.lines.count => {}
                Tensor::Lines(_, columns) => return refuse(format!("{pages} pages for lines of {columns} tiles")),
            }
        }
        for step in &steps {
            if let Target::Output(number, column, columns) = step.target {
                let pages = device.buffer(outputs[number])?.num_pages();
                let expected = self.lines.count * if step.is_line { self.lines.length } else { columns };
                if pages != expected || !step.is_line && column >= columns {
                    return refuse(format!("an output of {pages} pages, not {expected}"));
                }
            }
        }
        let access = device.access(outputs)?;
        let inputs = inputs.iter().map(|&id| access.input(id)).collect::<Result<Vec<_>, _>>()?;
        let outputs = outputs.iter().map(|&id| access.output(id)).collect::<Result<Vec<_>, _>>()?;
        for_each_page(
            self.lines.count,
            || Worker::new(&steps, &self.lines),
            |worker, number| {
                worker.line(
                    &steps,
                    &Line { tiles: &tiles, lines: &self.lines, inputs: &inputs, outputs: &outputs, number },
                )
            },
        )
    }
}
