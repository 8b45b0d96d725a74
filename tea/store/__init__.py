"""The only code changing `registry/` and `traces/`: durable files, versions, journals, blobs."""
