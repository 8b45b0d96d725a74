"""Install the network guard in each Python started by tests, through PYTHONPATH."""

from loopback_only import forbid_outside_network

forbid_outside_network()
