#if PostgreSQL
import CPostgreSQL
import Foundation

/// A connection to the server. One thread uses it.
///
/// Every `unsafe` call passes the shim's own connection or result, which this type frees once, or a buffer by its address and
/// element count. libpq copies what it sends before the call returns, and a result's bytes are copied before it is freed.
@safe final class ServerConnection {
    /// How long a connection that was interrupted waits for the server's answer before it disconnects.
    private static let settlingLimit = Duration.seconds(2)
    /// How long a host may take to accept a connection, at first and at most.
    private static let hostLimits = (first: Duration.seconds(2), last: Duration.seconds(16))

    /// Ends waits from other threads.
    let interruption: Interruption
    private(set) var isConnected = false
    /// What identifies the session to the store, or `nil` before it is prepared.
    var session: StoreSession?
    private let reachability: Reachability
    /// Counts the connection as open.
    private var openConnection: Reachability.OpenConnection?
    private let info: String
    private let application: String
    private let hostCount: Int32
    /// The index of the host to try next: the last one that accepted a connection, or the one after the last one that did not.
    private var host: Int32 = 0
    /// How long a host may take. Grows while none accepts a connection, in case the network is slow.
    private var hostLimit = hostLimits.first
    private let connection: OpaquePointer

    /// Creates a connection that is not connected yet, or returns `nil` without memory.
    init?(_ info: String, application: String, _ interruption: Interruption, _ reachability: Reachability) {
        guard let connection = unsafe cpq_make(interruption.reading) else { return nil }
        unsafe self.connection = unsafe connection
        self.info = info
        self.application = application
        self.interruption = interruption
        self.reachability = reachability
        // `unsafe`: a string that lives until the call returns.
        hostCount = unsafe cpq_host_count(info)
    }

    deinit {
        // `unsafe`: the shim's own connection, which nothing uses after this.
        unsafe cpq_free(connection)
    }

    /// Connects to the first host that accepts writes.
    ///
    /// - Throws: A `ServerError`: that of the last host, or of one that answers but accepts no writes.
    func connect(within limit: Duration) throws(ServerError) {
        let end = ContinuousClock.now + limit
        var failure: ServerError?
        for _ in 0..<hostCount {
            do throws(ServerError) {
                try connectToHost(within: min(end - .now, hostLimit))
                hostLimit = Self.hostLimits.first
                return
            } catch {
                // Also if it was interrupted, so that a host that does not answer is not tried first again and again.
                host = (host + 1) % hostCount
                guard error.isTransient else { throw reported(error) }
                if failure?.isReadOnly != true { failure = error }
            }
        }
        hostLimit = min(hostLimit * 2, Self.hostLimits.last)
        throw reported(failure ?? .unreachable("PostgreSQL has no host"))
    }

    /// Prepares a new connection, which then counts as open.
    func prepare(_ body: (ServerConnection) throws(ServerError) -> Void) throws(ServerError) {
        do throws(ServerError) {
            try body(self)
            openConnection = reachability.open()
        } catch {
            disconnect()
            throw reported(error)
        }
    }

    /// Reports an error that keeps the connection from being made.
    private func reported(_ error: ServerError) -> ServerError {
        if error != .interrupted { reachability.fail(error) }
        return error
    }

    private func connectToHost(within limit: Duration) throws(ServerError) {
        disconnect()
        // `unsafe`: the shim's own connection, and strings that live until each call returns.
        guard Self.isUnambiguous(info), unsafe cpq_can_parse(info) else { throw .invalidInfo }
        switch unsafe cpq_connect(connection, info, host, application, limit.milliseconds) {
        case .ready: isConnected = true
        case .interrupted:
            disconnect()
            throw .interrupted
        case .timeout:
            let place = place
            disconnect()
            throw .unreachable("\(place) does not answer")
        case .failed:
            // `unsafe`: the shim's text ends with a zero byte, and is copied before the connection changes.
            let (place, reason) = (place, unsafe String(cString: cpq_failure(connection)).reason)
            disconnect()
            throw reason.contains("session is read-only") ? .readOnly(place) : .unreachable("\(place): \(reason)")
        }
    }

    /// Disconnects from the server.
    func disconnect() {
        isConnected = false
        session = nil
        openConnection = nil
        // `unsafe`: the shim's own connection.
        unsafe cpq_disconnect(connection)
    }

    /// Runs statements together, in one exchange with the server, and returns the rows of each. If one fails, the server skips
    /// the rest.
    func run(
        _ statements: [Statement],
        within limit: Duration,
        isInterruptible: Bool = true
    ) throws(ServerError) -> [[Row]] {
        for statement in statements {
            guard queue(statement) else { throw lost() }
        }
        return try results(of: statements.count, within: limit, isInterruptible: isInterruptible)
    }

    /// Prepares statements.
    func prepare(_ statements: [PreparedStatement], within limit: Duration) throws(ServerError) {
        for statement in statements {
            // `unsafe`: the shim's own connection, and strings that libpq copies.
            guard unsafe cpq_queue_preparation(connection, statement.rawValue, statement.sql) else { throw lost() }
        }
        _ = try results(of: statements.count, within: limit, isInterruptible: true)
    }

    /// Ends the queue, and returns the rows of its statements.
    private func results(
        of count: Int,
        within limit: Duration,
        isInterruptible: Bool
    ) throws(ServerError) -> [[Row]] {
        // `unsafe`: the shim's own connection.
        guard unsafe cpq_sync(connection) else { throw lost() }
        let end = ContinuousClock.now + limit
        var rows: [[Row]] = []
        var failure: ServerError?
        for _ in 0..<count {
            switch try next(until: end, isInterruptible: isInterruptible) {
            case .success(let result): rows.append(result)
            case .failure(let error): failure = failure ?? error
            case nil: throw lost()
            }
        }
        guard try next(until: end, isInterruptible: isInterruptible) == nil else { throw lost() }
        if let failure {
            let place = place
            if failure.endsTheConnection { disconnect() }
            if case .refused(code: "25006", _) = failure { throw .readOnly(place) }
            throw failure
        }
        return rows
    }

    /// Waits until the server sends something, the connection is interrupted or lost, or the time is over.
    func idle(for limit: Duration) {
        // `unsafe`: the shim's own connection.
        if unsafe cpq_idle(connection, limit.milliseconds) == .failed { disconnect() }
    }

    /// Returns whether notifications of a channel have arrived since the last call.
    func takeNotifications() -> Bool {
        // `unsafe`: the shim's own connection.
        unsafe cpq_take_notifications(connection)
    }

    /// The server's host and port, without credentials.
    var place: String {
        // `unsafe`: the shim's texts end with a zero byte, and are copied here.
        let (host, port) = unsafe (String(cString: cpq_host(connection)), String(cString: cpq_port(connection)))
        return host.isEmpty || !port.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            ? "PostgreSQL" : "PostgreSQL at \(host):\(port)"
    }

    /// Returns whether a URI has a single reading. A password with an unescaped character can become a part of the host, the
    /// port or the database, and would then be shown in errors.
    private static func isUnambiguous(_ info: String) -> Bool {
        guard let start = info.firstRange(of: "://")?.upperBound else { return true }
        let address = info[start...].prefix { $0 != "?" }
        let authority = address.prefix { $0 != "/" }
        let port = authority.split(separator: "@").last?.split(separator: ",").last?.split(separator: ":").last ?? ""
        let isPlain = address.count { $0 == "@" } <= 1 && !address.dropFirst(authority.count).contains("@")
        // Without `@`, what looks like a port can be a password before a slash.
        return isPlain && (!authority.contains(":") || authority.hasSuffix("]") || port.allSatisfy(\.isNumber))
    }

    private func queue(_ statement: Statement) -> Bool {
        let parameters = EncodedParameters(statement.parameters)
        // `unsafe`: the shim reads as many bytes as the lengths say, which are those of the values in the buffer, and libpq copies
        // them before the call returns.
        return unsafe parameters.bytes.withUnsafeBufferPointer { bytes in
            unsafe parameters.lengths.withUnsafeBufferPointer { lengths in
                unsafe cpq_queue(
                    connection,
                    statement.text,
                    statement.isPrepared,
                    bytes.baseAddress,
                    lengths.baseAddress,
                    Int32(lengths.count)
                )
            }
        }
    }

    /// Waits for the next result. Returns `nil` at the end of the queue.
    private func next(
        until end: ContinuousClock.Instant,
        isInterruptible: Bool
    ) throws(ServerError) -> Result<[Row], ServerError>? {
        var result: OpaquePointer?
        // `unsafe`: the shim writes one pointer, to a result that is freed once, below.
        let wait = unsafe cpq_next(connection, (end - .now).milliseconds, isInterruptible, &result)
        defer { unsafe cpq_free_result(result) }
        switch wait {
        case .ready: break
        case .failed: throw lost()
        case .timeout:
            disconnect()
            throw .late
        case .interrupted:
            settle()
            throw .interrupted
        }
        // `unsafe`: a result of the shim, which is freed at the end. Its texts end with a zero byte, and are copied.
        guard let result = unsafe result else { return nil }
        if unsafe cpq_is_skipped(result) { return .failure(.skipped) }
        let code = unsafe String(cString: cpq_error_code(result))
        guard code.isEmpty else {
            // `unsafe`: as above.
            return .failure(.refused(code: code, message: unsafe String(cString: cpq_error_message(result))))
        }
        // `unsafe`: as above. The rows are copied.
        return .success(unsafe rows(of: result))
    }

    private func rows(of result: OpaquePointer) -> [Row] {
        // `unsafe`: a result of the shim. It says how many bytes a value has, which are copied before the result is freed.
        let columnCount = unsafe cpq_column_count(result)
        return (0..<(unsafe cpq_row_count(result))).map { row in
            Row(
                values: (0..<columnCount).map { column in
                    var count: Int32 = 0
                    // `unsafe`: the shim writes the number of bytes to `count`.
                    guard let bytes = unsafe cpq_value(result, row, column, &count) else { return nil }
                    return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
                }
            )
        }
    }

    /// Cancels the statements that were sent, and reads their results, so that the connection can be used again.
    private func settle() {
        // `unsafe`: the shim's own connection, and results that are freed once.
        unsafe cpq_cancel(connection)
        let end = ContinuousClock.now + Self.settlingLimit
        while true {
            var result: OpaquePointer?
            // `unsafe`: the shim writes one pointer, to a result that is freed once, after it was looked at.
            let wait = unsafe cpq_next(connection, (end - .now).milliseconds, false, &result)
            defer { unsafe cpq_free_result(result) }
            switch wait {
            // `unsafe`: the pointer is only compared.
            case .ready where unsafe result != nil: continue
            case .ready: return
            case .timeout, .interrupted, .failed: return disconnect()
            }
        }
    }

    private func lost() -> ServerError {
        // `unsafe`: the shim's text ends with a zero byte, and is copied before the connection changes.
        let reason = unsafe String(cString: cpq_failure(connection)).reason
        disconnect()
        return .lost(reason)
    }
}

/// Interrupts the waits of a connection from any thread.
final class Interruption: Sendable {
    /// The end of a pipe that the connection reads.
    let reading: Int32
    private let writing: Int32

    /// Creates an interruption, or returns `nil` without file descriptors.
    init?() {
        var ends: [Int32] = [-1, -1]
        // `unsafe`: the array has room for the two descriptors that the call writes.
        guard unsafe pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        Foundation.close(reading)
        Foundation.close(writing)
    }

    /// Ends the current wait, or the next one.
    func send() {
        var byte: UInt8 = 0
        // `unsafe`: one byte is read. A full pipe interrupts the wait already.
        while unsafe write(writing, &byte, 1) < 0, errno == EINTR {}
    }
}

/// Why a statement was not executed.
enum ServerError: Error, Hashable {
    /// The connection string cannot be read.
    case invalidInfo
    /// The server cannot be reached. Nothing was sent.
    case unreachable(String)
    /// The server, at a place, accepts no writes. Nothing was changed.
    case readOnly(String)
    /// The connection was lost while statements were executed.
    case lost(String)
    /// The server did not answer in time. The connection is closed.
    case late
    /// The task no longer waits.
    case interrupted
    /// The server skipped the statement, because an earlier one failed.
    case skipped
    /// The server refused the statement, with an SQLSTATE code.
    case refused(code: String, message: String)
    /// The connection was lost during a commit, and the server did not say what became of it.
    case unknownOutcome(String)
    /// The tables are those of a newer version of this package.
    case newerSchema(Int)

    /// Whether nothing was changed, and the same statements may succeed in another attempt.
    var isTransient: Bool {
        switch self {
        // Neither a wrong password nor a missing database goes away by itself.
        case .unreachable(let reason):
            !["authentication failed", "does not exist", "certificate"].contains { reason.contains($0) }
        case .lost, .readOnly: true
        // Serialization failure, deadlock, and class 53, a lack of resources other than disk space.
        case .refused(let code, _):
            endsTheConnection || ["40001", "40P01"].contains(code) || code.hasPrefix("53") && code != "53100"
        case .invalidInfo, .late, .interrupted, .skipped, .unknownOutcome, .newerSchema: false
        }
    }

    /// Whether the server is a standby, or set to be read-only.
    var isReadOnly: Bool { if case .readOnly = self { true } else { false } }

    /// Whether the connection cannot be used any more: the server shuts down, starts up or has become a standby.
    var endsTheConnection: Bool {
        guard case .refused(let code, _) = self else { return false }
        return ["08003", "08006", "57P01", "57P02", "57P03", "25006"].contains(code)
    }
}

extension Duration {
    /// The whole milliseconds, at least 0, rounded up.
    fileprivate var milliseconds: Int32 {
        let milliseconds = self / .milliseconds(1)
        return milliseconds > 0 ? Int32(min(milliseconds.rounded(.up), Double(Int32.max))) : 0
    }
}

extension String {
    /// The reason in libpq's text, which describes each attempt on a line of its own. Indented lines are advice.
    fileprivate var reason: String {
        let line = split(whereSeparator: \.isNewline).last { $0.first?.isWhitespace == false }
        guard let line else { return "the reason is not known" }
        return String(line.firstRange(of: " failed: ").map { line[$0.upperBound...] } ?? line)
    }
}
#endif
