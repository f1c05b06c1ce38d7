"""Named sequences of passes, and the text form of pipelines."""

from ttnn.compiler.pipelines.run import parse_pipeline, run, run_steps

__all__ = ["parse_pipeline", "run", "run_steps"]
