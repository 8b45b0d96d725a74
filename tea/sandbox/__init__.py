"""The sandbox: code that nobody vouches for runs here, in a process that can reach little and use little."""
