"""Untrusted components at work: generated, loaded and imported source runs in sandbox workers, reached over JSON."""
