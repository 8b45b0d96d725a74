"""Runs: the execution of one task, with its journal, budget and policy."""
