// Only CPostgreSQL includes the headers of libpq. This target lets SwiftPM find them.
