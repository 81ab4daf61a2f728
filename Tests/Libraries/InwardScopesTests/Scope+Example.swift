import InwardScopes
import InwardTesting
import TestSupport

/// As long as the process.
enum AppLifetime: OutermostLifetime {
    static let name = "app"
}

/// From signing in to signing out.
enum UserLifetime: InnerLifetime {
    typealias Outer = AppLifetime
    static let name = "user"
}

/// As long as a user is busy with one subject.
enum FeatureLifetime: InnerLifetime {
    typealias Outer = UserLifetime
    static let name = "feature"
}

extension Scope where Level == AppLifetime, Objects == String {
    /// An app whose only object says in a journal when it is closed.
    static func example(
        _ journal: Journal = Journal(),
        clock: ManualClock = ManualClock(),
        closing close: @escaping @Sendable () async throws -> Void = {}
    ) async -> Scope {
        await open("example", limit: ClosingLimit(.seconds(5), on: clock)) { opening in
            opening.closing("a store", as: "store") { store in
                journal.add("close \(store)")
                try await close()
            }
        }
    }
}

extension Scope where Level: InnerLifetime, Objects == String {
    /// A scope whose only object says in a journal when it is closed.
    static func example<Others: Sendable>(
        _ name: String,
        in outer: Scope<Level.Outer, Others>,
        _ journal: Journal = Journal(),
        closing close: @escaping @Sendable () async throws -> Void = {}
    ) async throws(ScopeError) -> Scope {
        try await open(name, in: outer) { opening, _ in
            opening.closing(name, as: "object") { name in
                journal.add("close \(name)")
                try await close()
            }
        }
    }
}

/// Somebody's session, whose object is a text.
typealias ExampleUser = Scope<UserLifetime, String>

/// A feature whose object is a text.
typealias ExampleFeature = Scope<FeatureLifetime, String>
