"""What each model's demo does with its port: inputs, reference, metric, picture."""
