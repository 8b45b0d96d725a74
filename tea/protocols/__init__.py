"""Protocols: TCP, ECP and ACP, one manager and one server for three kinds."""
