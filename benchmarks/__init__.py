"""Speed beside other environments: ``python -m benchmarks run``, from the root of the repository."""
