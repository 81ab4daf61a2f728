import Composition
import InwardTesting

extension Scope where Level == AppLifetime, Objects == String {
    /// An app whose only object says in a journal when it is closed.
    static func example(
        _ journal: Journal = Journal(),
        clock: ManualClock = ManualClock(),
        closing close: @escaping @Sendable () async throws -> Void = {}
    ) async -> Scope {
        await open("example", limit: ClosingLimit(.seconds(5), on: clock)) { opening in
            opening.closing("a store", as: "store") { store in
                journal.write("close \(store)")
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
                journal.write("close \(name)")
                try await close()
            }
        }
    }
}

/// Somebody's session, whose object is a text.
typealias ExampleUser = Scope<UserLifetime, String>

/// A feature whose object is a text.
typealias ExampleFeature = Scope<FeatureLifetime, String>
