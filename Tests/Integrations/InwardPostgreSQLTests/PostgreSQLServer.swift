#if PostgreSQL
import Foundation
import Synchronization
import TestSupport

@testable import InwardPostgreSQL

/// A PostgreSQL server with its own directory and socket, which ends with this process, however that ends.
final class PostgreSQLServer: Sendable {
    /// The server that most tests share. Each uses a database of its own.
    static let shared = Result { try PostgreSQLServer() }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The directory of the server's data and socket.
    let directory: URL
    private let supervisor: SpawnedProcess
    /// Kept open. When it closes, the supervisor ends the server.
    private let lifeline: FileHandle
    private let answers: FileHandle
    private let databaseCount = Mutex(0)

    /// Starts a server with a new database cluster, or with a copy of another server's, which it follows as a hot standby.
    ///
    /// - Parameters:
    ///   - primary: The server to follow.
    ///   - synchronousStandbys: The standbys that the commits of stores wait for, as in `synchronous_standby_names`.
    /// - Throws: A ``Failure`` if there is no server to start, or if it does not start.
    init(following primary: PostgreSQLServer? = nil, synchronousStandbys: String = "") throws {
        let binaries = try Self.binaries()
        directory = URL(filePath: "/tmp/inward-postgresql-\(UUID().uuidString.prefix(8))")
        let input = Pipe()
        let output = Pipe()
        // The server refuses to run as root.
        let script = """
            set -eu
            directory="$1"; binaries="$2"; primary="$3"; standbys="$4"
            mkdir -p "$directory"
            # In place of the shell that calls it, so that signals reach the program.
            as() { exec "$@"; }
            if [ "$(id -u)" = 0 ]; then
                chown postgres "$directory"
                as() { exec setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
            fi
            if [ -z "$primary" ]; then
                (as "$binaries/initdb" --pgdata "$directory/data" --username inward --auth trust --encoding UTF8 --locale C \
                    --no-sync > "$directory.log")
            else
                (as "$binaries/pg_basebackup" --pgdata "$directory/data" --host "$primary" --username inward \
                    --write-recovery-conf --checkpoint fast --no-sync > "$directory.log" 2>&1)
            fi
            start() {
                as "$binaries/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c fsync=off \
                    -c max_connections=200 -c wal_retrieve_retry_interval=20ms \
                    -c synchronous_standby_names="$standbys" >> "$directory.log" 2>&1 &
                server=$!
                until "$binaries/pg_isready" -q -h "$directory" -U inward; do kill -0 $server; sleep 0.02; done
            }
            finish() {
                kill -QUIT $server 2> /dev/null || :
                kill -CONT $server 2> /dev/null || :
                wait $server 2> /dev/null || :
                rm -rf "$directory" "$directory.log"
            }
            server=
            trap finish EXIT
            start
            echo ready
            while read -r command argument; do
                case "$command" in
                stop) kill -"$argument" $server; wait $server || :; server= ;;
                start) start ;;
                hang) kill -STOP $server ;;
                resume) kill -CONT $server ;;
                promote) (as "$binaries/pg_ctl" promote --wait --silent --pgdata "$directory/data" >> "$directory.log" 2>&1) ;;
                follow)
                    (as touch "$directory/data/standby.signal")
                    echo "primary_conninfo = 'host=$argument user=inward'" >> "$directory/data/postgresql.auto.conf"
                    ;;
                esac
                echo ready
            done
            """
        supervisor = try SpawnedProcess(
            "/bin/bash",
            [
                "-c", script, "server", directory.path(percentEncoded: false), binaries, primary?.path ?? "",
                synchronousStandbys,
            ],
            input: input.fileHandleForReading,
            output: output.fileHandleForWriting,
            errors: .standardError
        )
        lifeline = input.fileHandleForWriting
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        answers = output.fileHandleForReading
        try awaitReadiness()
    }

    deinit {
        // On a thread of its own, which may block. A process that nobody waits for would keep the exit tests of the same process
        // from noticing theirs.
        Thread.detachNewThread { [lifeline, supervisor] in
            try? lifeline.close()
            _ = supervisor.wait()
        }
    }

    /// Ends the server with a signal, and starts it again. Returns when it accepts connections.
    func restart(signal: String) async throws {
        try await stop(signal: signal)
        try await start()
    }

    /// Ends the server with a signal. Returns when it has ended.
    func stop(signal: String) async throws { try await order("stop \(signal)") }

    /// Starts the server after ``stop(signal:)``. Returns when it accepts connections.
    func start() async throws { try await order("start") }

    /// Makes the server leave new connections unanswered.
    func hang() async throws { try await order("hang") }

    /// Makes the server answer again after ``hang()``.
    func resume() async throws { try await order("resume") }

    /// Makes a standby a primary. Returns when it accepts writes.
    func promote() async throws { try await order("promote") }

    /// Makes the server a standby of another one from its next start.
    func follow(_ primary: PostgreSQLServer) async throws { try await order("follow \(primary.path)") }

    /// Makes the supervisor do something, and waits until it has done it.
    private func order(_ command: String) async throws {
        try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own, which may block.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try self.lifeline.write(contentsOf: Data("\(command)\n".utf8))
                        try self.awaitReadiness()
                    }
                )
            }
        }
    }

    /// Creates an empty database, and returns its name.
    func database() async throws -> String {
        let name = databaseCount.withLock { count in
            count += 1
            return "test\(count)"
        }
        try await execute("CREATE DATABASE \(name)", in: "postgres")
        return name
    }

    /// Executes a statement in a database, and returns its rows.
    @discardableResult
    func execute(_ sql: String, in database: String) async throws -> [Row] {
        let session = session(in: database)
        defer { session.close() }
        return try await session.execute(sql)
    }

    /// Returns a session in a database: a pool with one connection. Its commits do not wait for standbys.
    func session(in database: String) -> ConnectionPool {
        ConnectionPool(
            PoolSettings(
                info: "\(info(database)) options=-csynchronous_commit=local",
                application: "test",
                connectionLimit: 1,
                timeLimit: .seconds(60),
                connectionTimeLimit: .seconds(60),
                prepare: { _, _ in }
            )
        )
    }

    /// Returns the connection string of a database.
    func info(_ database: String) -> String {
        "host=\(path) user=inward dbname=\(database)"
    }

    /// The path of the directory, which is the host in connection strings.
    var path: String { directory.path(percentEncoded: false) }

    private func awaitReadiness() throws {
        guard let line = try answers.read(upToCount: 6), line == Data("ready\n".utf8) else {
            throw Failure(description: "The server did not start. See \(path).log.")
        }
    }

    /// Returns the directory of the server's programs.
    private static func binaries() throws -> String {
        let installed = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let candidates =
            installed.sorted { $0.localizedStandardCompare($1) == .orderedDescending }.map {
                "/usr/lib/postgresql/\($0)/bin"
            }
            + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") })
        else {
            throw Failure(
                description:
                    "These tests need a PostgreSQL server: apt-get install postgresql, or brew install postgresql."
            )
        }
        return found
    }
}

extension ConnectionPool {
    /// Executes a statement, and returns its rows.
    @discardableResult
    func execute(_ sql: String, _ parameters: Parameter...) async throws -> [Row] {
        try await read { connection, limit throws(ServerError) in
            try connection.run([Statement(sql: sql, parameters)], within: limit).first ?? []
        }
    }
}
#endif
