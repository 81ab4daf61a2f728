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

    /// Creates a database cluster and starts a server for it.
    init() throws {
        let binaries = try Self.binaries()
        directory = URL(filePath: "/tmp/inward-postgresql-\(UUID().uuidString.prefix(8))")
        let input = Pipe()
        let output = Pipe()
        // The server refuses to run as root.
        let script = """
            set -eu
            directory="$1"; binaries="$2"
            mkdir -p "$directory"
            # In place of the shell that calls it, so that signals reach the program.
            as() { exec "$@"; }
            if [ "$(id -u)" = 0 ]; then
                chown postgres "$directory"
                as() { exec setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
            fi
            (as "$binaries/initdb" --pgdata "$directory/data" --username inward --auth trust --encoding UTF8 --locale C \
                --no-sync > "$directory.log")
            start() {
                as "$binaries/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c fsync=off \
                    -c max_connections=200 >> "$directory.log" 2>&1 &
                server=$!
                until "$binaries/pg_isready" -q -h "$directory" -U inward; do kill -0 $server; sleep 0.02; done
            }
            finish() {
                kill -QUIT $server 2> /dev/null || :
                wait $server 2> /dev/null || :
                rm -rf "$directory" "$directory.log"
            }
            trap finish EXIT
            start
            echo ready
            # Each line is a signal that ends the server, which is then started again.
            while read -r signal; do
                kill -"$signal" $server
                wait $server || :
                start
                echo ready
            done
            """
        supervisor = try SpawnedProcess(
            "/bin/bash",
            ["-c", script, "server", directory.path(percentEncoded: false), binaries],
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
        try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own, which may block.
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try self.lifeline.write(contentsOf: Data("\(signal)\n".utf8))
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

    /// Returns a session in a database: a pool with one connection.
    func session(in database: String) -> ConnectionPool {
        ConnectionPool(
            PoolSettings(
                info: info(database),
                application: "test",
                connectionLimit: 1,
                timeLimit: .seconds(60),
                prepare: { _, _ in }
            )
        )
    }

    /// Returns the connection string of a database.
    func info(_ database: String) -> String {
        "host=\(directory.path(percentEncoded: false)) user=inward dbname=\(database)"
    }

    private func awaitReadiness() throws {
        guard let line = try answers.read(upToCount: 6), line == Data("ready\n".utf8) else {
            throw Failure(description: "The server did not start. See \(directory.path(percentEncoded: false)).log.")
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
