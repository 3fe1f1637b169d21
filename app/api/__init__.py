"""The HTTP face: schemas, routers and the one table from errors to status codes."""
