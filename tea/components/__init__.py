"""Components: operations, context, manifest, and declaration."""
