"""Corpus: folders and sites indexed into one local file, and searched without any service."""
