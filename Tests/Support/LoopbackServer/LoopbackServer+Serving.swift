import Synchronization

extension LoopbackServer {
    /// Runs a test against a server that answers by a function, and stops the server afterwards.
    ///
    /// - Parameters:
    ///   - isWelcome: Says of each connection, by its number from 1 on, whether it is kept. Another one is closed as soon as it
    ///     is there.
    ///   - answer: The answer to a request.
    ///   - test: What is run.
    /// - Throws: what the test throws, or why the server cannot be started.
    public static func serving(
        welcoming isWelcome: @escaping @Sendable (Int) -> Bool = { _ in true },
        _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer,
        test: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(welcoming: isWelcome, answer)
        defer { server.stop() }
        try await test(server)
    }

    /// Runs a test against a server that gives these answers in their order, the last one again and again, and stops the server
    /// afterwards.
    ///
    /// - Throws: what the test throws, or why the server cannot be started.
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

    /// Runs a test with a port that refuses whoever connects to it, and that nobody else gets meanwhile.
    ///
    /// - Throws: what the test throws, or why there is no such port.
    public static func refusing(test: (_ port: Int) async throws -> Void) async throws {
        let (socket, port) = try LoopbackSocket.bound()
        defer { socket.close() }
        try await test(port)
    }
}
