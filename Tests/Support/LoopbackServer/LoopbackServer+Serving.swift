import Synchronization

extension LoopbackServer {
    /// Runs a test against a server, and stops the server afterwards.
    ///
    /// - Parameters:
    ///   - isWelcome: Returns whether to accept a connection, by its number, starting with 1. Other connections are closed at
    ///     once.
    ///   - answer: Returns the response to a request.
    ///   - test: The test, which receives the server.
    /// - Throws: The error that the test throws, or an error if the server cannot be started.
    public static func serving(
        welcoming isWelcome: @escaping @Sendable (Int) -> Bool = { _ in true },
        _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer,
        test: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(welcoming: isWelcome, answer)
        defer { server.stop() }
        try await test(server)
    }

    /// Runs a test against a server that sends responses in order and repeats the last one, and stops the server afterwards.
    ///
    /// - Throws: The error that the test throws, or an error if the server cannot be started.
    public static func serving(
        inTurn answers: [LoopbackAnswer],
        test: (LoopbackServer) async throws -> Void
    ) async throws {
        let rest = Mutex(answers[...])
        try await serving(
            { _ in
                rest.withLock { rest in rest.count > 1 ? rest.removeFirst() : rest.first ?? .raw([]) }
            },
            test: test
        )
    }

    /// Runs a test with a port that refuses connections, and that no other process can use in the meantime.
    ///
    /// - Throws: The error that the test throws, or an error if no port is free.
    public static func refusing(test: (_ port: Int) async throws -> Void) async throws {
        let (socket, port) = try LoopbackSocket.bound()
        defer { socket.close() }
        try await test(port)
    }
}
