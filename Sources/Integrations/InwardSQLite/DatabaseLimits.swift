#if SQLite

/// How large the parts of a database may be, and what else tests choose.
struct DatabaseLimits: Sendable {
    /// How many bytes a page of a new database has.
    var pageSize = 4_096
    /// How many pages a database may have, for the tests of what becomes of it then; `nil` if as many as there is room for.
    var pageCount: Int?
    /// How many bytes the log may have before it is written into the database.
    var logLength = 4 * 1_024 * 1_024
    /// Whether commits wait for the disk, which they do but where a test makes thousands of databases.
    var isFlushed = true
}
#endif
