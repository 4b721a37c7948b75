"""Helpers of the scripts in `lab/benchmarks`: results files, options, tools of recorded runs."""
