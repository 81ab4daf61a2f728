import InwardScopes
import InwardTesting
import TestSupport

/// The lifetime of the process.
enum AppLifetime: OutermostLifetime {
    static let name = "app"
}

/// The lifetime from sign-in to sign-out.
enum UserLifetime: InnerLifetime {
    typealias Outer = AppLifetime
    static let name = "user"
}

/// The lifetime of a user's work with one feature.
enum FeatureLifetime: InnerLifetime {
    typealias Outer = UserLifetime
    static let name = "feature"
}

extension Scope where Level == AppLifetime, Objects == String {
    /// Opens an app whose only object records in a journal when it is closed.
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
    /// Opens a scope whose only object records in a journal when it is closed.
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

/// A user's session with a text as its object.
typealias ExampleUser = Scope<UserLifetime, String>

/// A feature with a text as its object.
typealias ExampleFeature = Scope<FeatureLifetime, String>
