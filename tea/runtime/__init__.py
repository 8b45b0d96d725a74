"""What runs: the platform, its runs, and the gate each run passes."""
