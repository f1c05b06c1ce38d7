"""Named sequences of passes, and the text form of pipelines."""
