#include "CPostgreSQL.h"

#ifdef POSTGRESQL

#if !__has_include(<libpq-fe.h>)
#error "The trait PostgreSQL needs libpq 14 or later: apt-get install libpq-dev, or brew install libpq"
#endif

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct CPQConnection {
    PGconn *server;
    /// The reading end of a pipe. A byte in it interrupts a wait.
    int interruptions;
};

static void ignore(void *arg, const char *message) {}

CPQConnection *cpq_make(int32_t interruptions) {
    CPQConnection *connection = calloc(1, sizeof(CPQConnection));
    if (connection) connection->interruptions = interruptions;
    return connection;
}

void cpq_disconnect(CPQConnection *connection) {
    PQfinish(connection->server);
    connection->server = NULL;
}

void cpq_free(CPQConnection *connection) {
    cpq_disconnect(connection);
    free(connection);
}

void cpq_cancel(const CPQConnection *connection) {
    char message[256];
    PGcancel *cancel = PQgetCancel(connection->server);
    if (cancel) PQcancel(cancel, message, sizeof(message));
    PQfreeCancel(cancel);
}

static void forget_interruptions(const CPQConnection *connection) {
    char bytes[64];
    ssize_t count;
    do count = read(connection->interruptions, bytes, sizeof(bytes));
    while (count > 0 || (count < 0 && errno == EINTR));
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t) time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits for events of the server's socket until a time. A socket that has failed counts as ready: the next call of libpq says
/// why.
static CPQWait await(const CPQConnection *connection, short events, bool heeds_interruptions, int64_t end) {
    // `poll` ignores negative descriptors, such as that of a connection without a server.
    const int descriptor = PQsocket(connection->server), interruptions = heeds_interruptions ? connection->interruptions : -1;
    while (true) {
        struct pollfd ends[2] = {{descriptor, events, 0}, {interruptions, POLLIN, 0}};
        const int64_t left = end - now();
        const int count = poll(ends, 2, left < 0 ? 0 : (int) left);
        if (count < 0 && errno != EINTR) return CPQWaitFailed;
        if (count > 0 && ends[1].revents) {
            forget_interruptions(connection);
            return CPQWaitInterrupted;
        }
        if (count > 0) return CPQWaitReady;
        if (left <= 0) return CPQWaitTimeout;
    }
}

/// The options that are lists with an item for each host.
enum { list_count = 3 };
static const char *const lists[list_count] = {"host", "hostaddr", "port"};

/// Returns the value of an option, or `NULL` if there is none.
static const char *value(const PQconninfoOption *options, const char *keyword) {
    for (; options && options->keyword; options++) {
        if (!strcmp(options->keyword, keyword)) return options->val && *options->val ? options->val : NULL;
    }
    return NULL;
}

static int32_t item_count(const char *list) {
    int32_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

/// Returns a copy of an item of a list. A list of one item has it for each host.
static char *copy_item(const char *list, int32_t index) {
    if (!list) return NULL;
    for (; index > 0 && strchr(list, ','); index--) list = strchr(list, ',') + 1;
    return strndup(list, strcspn(list, ","));
}

/// Returns the number of hosts. If the lists do not fit together, it is 1, and libpq says so when it connects.
static int32_t host_count(const PQconninfoOption *options) {
    int32_t count = 1;
    for (int i = 0; i < list_count; i++) {
        const char *list = value(options, lists[i]);
        const int32_t items = list ? item_count(list) : 1;
        if (items == 1) continue;
        if (count > 1 && items != count) return 1;
        count = items;
    }
    return value(options, "host") || value(options, "hostaddr") ? count : 1;
}

int32_t cpq_host_count(const char *info) {
    PQconninfoOption *options = PQconninfoParse(info, NULL);
    const int32_t count = host_count(options);
    PQconninfoFree(options);
    return count;
}

CPQWait cpq_connect(
    CPQConnection *connection, const char *info, int32_t host, const char *application, int32_t milliseconds
) {
    cpq_disconnect(connection);
    // A host that does not answer would use up the time of the others: libpq has no time limit for each host when it does not
    // block. So it gets one host at a time.
    char *items[list_count] = {NULL, NULL, NULL};
    PQconninfoOption *options = PQconninfoParse(info, NULL);
    for (int i = 0; i < list_count && host_count(options) > 1; i++) items[i] = copy_item(value(options, lists[i]), host);
    PQconninfoFree(options);
    // The connection string replaces these defaults: the server's certificate is verified, a lost network is noticed within half
    // a minute, and a standby is not used, because it accepts no writes.
    const char *keys[] = {
        "sslmode", "tcp_user_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "target_session_attrs",
        "fallback_application_name", "dbname", lists[0], lists[1], lists[2], NULL,
    };
    const char *values[] = {
        getenv("PGSSLMODE") ? NULL : "verify-full", "20000", "10", "5", "3", "read-write", application, info, items[0],
        items[1], items[2], NULL,
    };
    const int64_t end = now() + milliseconds;
    connection->server = PQconnectStartParams(keys, values, 1);
    for (int i = 0; i < list_count; i++) free(items[i]);
    if (!connection->server || PQstatus(connection->server) == CONNECTION_BAD) return CPQWaitFailed;
    PQsetNoticeProcessor(connection->server, ignore, NULL);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED) return CPQWaitFailed;
        const CPQWait wait = await(connection, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, true, end);
        if (wait != CPQWaitReady) return wait;
        status = PQconnectPoll(connection->server);
    }
    if (PQsetnonblocking(connection->server, 1) || !PQenterPipelineMode(connection->server)) return CPQWaitFailed;
    return CPQWaitReady;
}

bool cpq_can_parse(const char *info) {
    PQconninfoOption *options = PQconninfoParse(info, NULL);
    PQconninfoFree(options);
    return options != NULL;
}

static const char *text(const char *text) { return text ? text : ""; }

const char *cpq_host(const CPQConnection *connection) { return text(PQhost(connection->server)); }
const char *cpq_port(const CPQConnection *connection) { return text(PQport(connection->server)); }
const char *cpq_failure(const CPQConnection *connection) { return text(PQerrorMessage(connection->server)); }

bool cpq_queue(
    CPQConnection *connection, const char *text, bool is_prepared, const uint8_t *bytes, const int32_t *lengths, int32_t count
) {
    // The largest statement has fewer parameters.
    enum { limit = 16 };
    const char *values[limit];
    int sizes[limit], formats[limit];
    if (count < 0 || count > limit) return false;
    for (int32_t i = 0; i < count; i++) {
        // An empty value is not `NULL`, whatever the address of an empty buffer.
        values[i] = lengths[i] < 0 ? NULL : lengths[i] ? (const char *) bytes : "";
        sizes[i] = lengths[i] < 0 ? 0 : lengths[i];
        formats[i] = 1;
        bytes += sizes[i];
    }
    return is_prepared ? PQsendQueryPrepared(connection->server, text, count, values, sizes, formats, 1)
                       : PQsendQueryParams(connection->server, text, count, NULL, values, sizes, formats, 1);
}

bool cpq_queue_preparation(CPQConnection *connection, const char *name, const char *sql) {
    return PQsendPrepare(connection->server, name, sql, 0, NULL);
}

bool cpq_sync(CPQConnection *connection) { return PQpipelineSync(connection->server); }

/// Sends what is queued, reads what has arrived, and waits until a result is there.
static CPQWait fill(CPQConnection *connection, bool heeds_interruptions, int64_t end) {
    while (PQisBusy(connection->server)) {
        const int left = PQflush(connection->server);
        if (left < 0) return CPQWaitFailed;
        const CPQWait wait = await(connection, left ? POLLIN | POLLOUT : POLLIN, heeds_interruptions, end);
        if (wait != CPQWaitReady) return wait;
        if (!PQconsumeInput(connection->server)) return CPQWaitFailed;
    }
    return CPQWaitReady;
}

CPQWait cpq_next(CPQConnection *connection, int32_t milliseconds, bool heeds_interruptions, CPQResult **result) {
    *result = NULL;
    const int64_t end = now() + milliseconds;
    // `NULL` ends the results of one statement. A second one says that the queue is empty.
    for (int ended = 0; ended < 2;) {
        const CPQWait wait = fill(connection, heeds_interruptions, end);
        if (wait != CPQWaitReady) return wait;
        PGresult *next = PQgetResult(connection->server);
        if (!next) {
            if (PQstatus(connection->server) == CONNECTION_BAD) return CPQWaitFailed;
            ended++;
            continue;
        }
        if (PQresultStatus(next) == PGRES_PIPELINE_SYNC) {
            PQclear(next);
            return CPQWaitReady;
        }
        *result = (CPQResult *) next;
        return PQstatus(connection->server) == CONNECTION_BAD ? CPQWaitFailed : CPQWaitReady;
    }
    return CPQWaitReady;
}

CPQWait cpq_idle(CPQConnection *connection, int32_t milliseconds) {
    const CPQWait wait = await(connection, POLLIN, true, now() + milliseconds);
    if (wait != CPQWaitReady || PQsocket(connection->server) < 0) return wait;
    return PQconsumeInput(connection->server) ? CPQWaitReady : CPQWaitFailed;
}

bool cpq_take_notifications(CPQConnection *connection) {
    bool has_found = false;
    PGnotify *notification;
    while ((notification = PQnotifies(connection->server))) {
        PQfreemem(notification);
        has_found = true;
    }
    return has_found;
}

const char *cpq_error_code(const CPQResult *result) {
    return text(PQresultErrorField((const PGresult *) result, PG_DIAG_SQLSTATE));
}

const char *cpq_error_message(const CPQResult *result) {
    return text(PQresultErrorField((const PGresult *) result, PG_DIAG_MESSAGE_PRIMARY));
}

bool cpq_is_skipped(const CPQResult *result) {
    return PQresultStatus((const PGresult *) result) == PGRES_PIPELINE_ABORTED;
}

int32_t cpq_row_count(const CPQResult *result) { return PQntuples((const PGresult *) result); }
int32_t cpq_column_count(const CPQResult *result) { return PQnfields((const PGresult *) result); }

const uint8_t *cpq_value(const CPQResult *result, int32_t row, int32_t column, int32_t *count) {
    const PGresult *rows = (const PGresult *) result;
    *count = 0;
    if (row < 0 || row >= PQntuples(rows) || column < 0 || column >= PQnfields(rows) || PQgetisnull(rows, row, column))
        return NULL;
    *count = PQgetlength(rows, row, column);
    return (const uint8_t *) PQgetvalue(rows, row, column);
}

void cpq_free_result(CPQResult *result) { PQclear((PGresult *) result); }

#endif
