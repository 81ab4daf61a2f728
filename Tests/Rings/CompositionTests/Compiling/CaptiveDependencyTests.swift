import Testing

/// Code that gives an outer scope an object of an inner one does not compile. Each case compiles without its last line.
@Suite(.enabled(if: Snippet.canBeCompiled))
struct CaptiveDependencyTests {
    private static let prelude = """
        import Composition
        import InterfaceAdapters
        import InwardScopes
        import UseCases

        """

    @Test(arguments: [
        (
            "an interaction is in a feature and not in a session",
            "let user = try await UserContainer(.guest, in: AppContainer())",
            "let captive = try user.openInteraction(in: user.scope, id: nil, within: nil)",
            "to expected argument type 'Scope<FeatureLifetime, UserContainer.Objects>'"
        ),
        (
            "an app cannot be in a session",
            "let app = try await AppContainer()\nlet user = try await UserContainer(.guest, in: app)",
            "let captive = try await Scope<AppLifetime, Int>.open(\"app\", in: user.scope) { _, _ in 1 }",
            "requires that 'AppLifetime' conform to 'InnerLifetime'"
        ),
        (
            "a session cannot be in a feature",
            "let user = try await UserContainer(.guest, in: AppContainer())\nlet feed = try await FeedContainer(in: user)",
            "let captive = try Scope<SessionLifetime, Int>(\"user\", in: feed.scope, objects: 1)",
            "to expected argument type 'Scope<SessionLifetime.Outer, FeedContainer.Objects>'"
        ),
        (
            "a feature is in a session and not in an app",
            "let app = try await AppContainer()",
            "let captive = try await FeedContainer(in: app)",
            "cannot convert value of type 'AppContainer' to expected argument type 'UserContainer'"
        ),
        (
            "a session does not change its user",
            "let user = try await UserContainer(.guest, in: AppContainer())",
            "user.session = UserSession(name: \"eve\", credentials: .bearer(\"x\"))",
            "value of type 'UserContainer' has no member 'session'"
        ),
    ])
    func captiveDependencyDoesNotCompile(rule: String, lines: String, captive: String, error: String) async throws {
        #expect(try await Snippet(source: Self.prelude + lines).errors() == [], "\(rule)")
        let errors = try await Snippet(source: "\(Self.prelude)\(lines)\n\(captive)").errors()
        #expect(errors.contains { $0.contains(error) }, "\(rule): \(errors)")
    }
}
