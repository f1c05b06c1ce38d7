"""Tasks of the model demos: inputs, reference, metric, plot."""
