import Crypto
import Foundation
import InwardRepositories

/// The bearer tokens that the service has issued to users. The store keeps only digests of them.
///
/// A token is the user's name and 256 random bits. Instances that share the store accept each other's tokens.
struct SignIns: Sendable {
    /// The name of the cookie with the token of a visitor of the pages.
    static let cookieName = "session"

    private static let prefix: RecordKey = ["signIns"]
    /// The maximum number of sign-ins of a user. The next one ends the oldest.
    private static let maximumCount = 20

    private let store: any SharedRecordStore
    /// How long a token is valid.
    let lifetime: Duration
    private let now: @Sendable () -> Date

    init(store: any SharedRecordStore, lifetime: Duration, now: @escaping @Sendable () -> Date) {
        (self.store, self.lifetime, self.now) = (store, lifetime, now)
    }

    /// Issues a token.
    ///
    /// - Parameter user: The name of an authenticated user.
    /// - Returns: The token.
    /// - Throws: A `RecordStoreError` if it cannot be kept.
    func issue(to user: String) async throws -> String {
        // The system's generator is cryptographically secure.
        let secret = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        let token = Self.base64URL(Data(user.utf8)) + "." + Self.base64URL(secret)
        let expiry = now().addingTimeInterval(lifetime / .seconds(1))
        // The key and the expiry say everything.
        let record = StoredRecord([], expiry: expiry)
        let key = Self.key(of: user).appending(Self.digest(token))
        let earlier = try await store.records(under: Self.key(of: user))
            .sorted { ($0.record.expiry ?? .distantPast) > ($1.record.expiry ?? .distantPast) }
        let excess = earlier.dropFirst(Self.maximumCount - 1).map { RecordChange.remove($0.key) }
        try await store.commit(excess + [.keep(record, key)])
        return token
    }

    /// Returns whose token it is; `nil` if it is not valid.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot tell.
    func visitor(with token: String) async throws -> Visitor? {
        guard token.utf8.count <= 512, let name = token.split(separator: ".", maxSplits: 1).first,
            let user = Self.text(base64URL: name)
        else { return nil }
        let visitor = Visitor.user(user, signIn: Self.digest(token))
        return try await isSignedIn(visitor) ? visitor : nil
    }

    /// Returns whether the sign-in of a visitor is still valid. Guests need none.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot tell.
    func isSignedIn(_ visitor: Visitor) async throws -> Bool {
        guard case .user(let user, let signIn) = visitor else { return true }
        let record = try await store.record(for: Self.key(of: user).appending(signIn))
        return record.map { !$0.isExpired(at: now()) } ?? false
    }

    /// Ends one sign-in of a user, or all of them.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot be changed.
    func end(_ signIn: String?, of user: String) async throws {
        let key = Self.key(of: user)
        try await store.commit([signIn.map { .remove(key.appending($0)) } ?? .removeAll(key)])
    }

    private static func key(of user: String) -> RecordKey { prefix.appending(user) }

    private static func digest(_ token: String) -> String { base64URL(Data(SHA256.hash(data: Data(token.utf8)))) }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func text(base64URL text: Substring) -> String? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
        return Data(base64Encoded: String(base64)).flatMap { String(data: $0, encoding: .utf8) }
    }
}

/// The sender of a request.
enum Visitor: Hashable, Sendable {
    /// Somebody who has not signed in.
    case guest
    /// A user, and the sign-in whose token the request has.
    case user(String, signIn: String)

    /// What distinguishes the answers to visitors, and their idempotency keys.
    var name: String {
        switch self {
        case .guest: "guest"
        case .user(let user, _): "user \(user)"
        }
    }
}
