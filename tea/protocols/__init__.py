"""TCP, ECP and ACP: one manager and one server, three kinds."""
