"""What each Python imports when it begins whose PYTHONPATH names this folder: those that tests start."""

from loopback_only import forbid_outside_network

forbid_outside_network()
