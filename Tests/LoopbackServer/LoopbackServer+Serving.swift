extension LoopbackServer {
    /// Runs a test against a server that answers by a function, and stops the server afterwards.
    ///
    /// - Throws: what the test throws, or why the server cannot be started.
    public static func serving(
        _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer,
        test: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(answer)
        defer { server.stop() }
        try await test(server)
    }
}
