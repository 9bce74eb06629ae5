"""Programs that benchmarks start and kill."""
