#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

// A connection to PostgreSQL that one thread at a time uses. The functions are defined only if the trait PostgreSQL is enabled.
//
// Parameters and results are in PostgreSQL's binary format. Every wait ends after a time limit, or when a byte arrives in the
// pipe with which the connection was made: another thread writes it to interrupt the wait.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CPQConnection CPQConnection;
typedef struct CPQResult CPQResult;

/// How a wait ended.
typedef enum __attribute__((enum_extensibility(closed))) {
    /// The server has answered.
    CPQWaitReady = 0,
    /// The time is over.
    CPQWaitTimeout = 1,
    /// The connection was interrupted.
    CPQWaitInterrupted = 2,
    /// The connection is lost, or could not be made.
    CPQWaitFailed = 3,
} CPQWait;

/// Returns a connection that is not connected yet, or `NULL` without memory. `interruptions` is the reading end of a pipe that
/// does not block.
CPQConnection *cpq_make(int32_t interruptions);

/// Returns the number of hosts in a connection string or URI, or 1 if it names none.
int32_t cpq_host_count(const char *info);

/// Connects to a server. `info` is a connection string or URI, and `host` is the index of one of its hosts.
CPQWait cpq_connect(
    CPQConnection *connection, const char *info, int32_t host, const char *application, int32_t milliseconds);

/// Disconnects from the server. The connection can connect again.
void cpq_disconnect(CPQConnection *connection);

/// Disconnects and frees the connection.
void cpq_free(CPQConnection *connection);

/// Asks the server to cancel the current statement. Blocks until the server has received the request.
void cpq_cancel(const CPQConnection *connection);

/// Returns whether libpq can read a connection string or URI.
bool cpq_can_parse(const char *info);

/// Returns the host or the port of the connection string, or an empty string.
const char *cpq_host(const CPQConnection *connection);
const char *cpq_port(const CPQConnection *connection);

/// Returns why connecting or sending failed, as libpq's text.
const char *cpq_failure(const CPQConnection *connection);

/// Queues a statement. Its parameters are one after the other in `bytes`. A length of -1 is `NULL`.
///
/// With `is_prepared`, `text` is the name of a prepared statement, and otherwise SQL.
bool cpq_queue(
    CPQConnection *connection, const char *text, bool is_prepared, const uint8_t *bytes, const int32_t *lengths, int32_t count);

/// Queues the preparation of a statement.
bool cpq_queue_preparation(CPQConnection *connection, const char *name, const char *sql);

/// Ends the queue: the server answers what was queued. If one statement fails, it skips the rest.
bool cpq_sync(CPQConnection *connection);

/// Waits until the next result of a queued statement has arrived. `result` is then not `NULL`, unless the queue has ended.
/// `heeds_interruptions` is whether the wait can be interrupted.
CPQWait cpq_next(CPQConnection *connection, int32_t milliseconds, bool heeds_interruptions, CPQResult **result);

/// Waits between statements until the server sends something, such as the end of the connection.
CPQWait cpq_idle(CPQConnection *connection, int32_t milliseconds);

/// Returns whether notifications of a channel have arrived since the last call.
bool cpq_take_notifications(CPQConnection *connection);

/// Returns the code of the result's error (SQLSTATE), or an empty string if it succeeded.
const char *cpq_error_code(const CPQResult *result);
/// Returns the primary message of the result's error, or an empty string.
const char *cpq_error_message(const CPQResult *result);
/// Returns whether the statement was skipped because an earlier one in the queue failed.
bool cpq_is_skipped(const CPQResult *result);
int32_t cpq_row_count(const CPQResult *result);
int32_t cpq_column_count(const CPQResult *result);
/// Returns the bytes of a value, or `NULL` if it is `NULL`. They are valid until the result is freed.
const uint8_t *cpq_value(const CPQResult *result, int32_t row, int32_t column, int32_t *count);
void cpq_free_result(CPQResult *result);

#endif
