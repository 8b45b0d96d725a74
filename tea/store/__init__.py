"""The only code that changes `registry/` and `traces/`: durable files, versions, journals, blobs."""
