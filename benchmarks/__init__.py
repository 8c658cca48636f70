"""Speed, measured side by side: ``python -m benchmarks run``, from the root of the repository."""
