import Foundation
import InwardCore
import InwardFetching
import InwardScopes
import Synchronization

/// The tokens with which the service sends the requests of users to the upstream.
///
/// They come from the upstream's token endpoint: `POST ENDPOINT?user=ada` is answered with `{"token": "…", "expires_in": 60}`, or with
/// 401 or 403 if the user may not use the upstream.
final class UpstreamTokens: Sendable {
    private struct Answer: Decodable {
        let token: String
        let expires_in: Double?
    }

    private struct Kept: Sendable {
        let field: HeaderField
        /// When it expires; `nil` if that is unknown.
        let expiry: ContinuousClock.Instant?
    }

    /// The token that a session has, so that it does not get the same one again when it needs another.
    private final class Last: Sendable {
        private let field = Mutex<HeaderField?>(nil)

        func next(_ renew: (HeaderField?) async throws -> Credential?) async throws -> Credential? {
            let credential = try await renew(field.withLock(\.self))
            field.withLock { $0 = credential?.field }
            return credential
        }
    }

    /// Tokens that expire sooner are not used for another session.
    private static let margin = Duration.seconds(5)

    private let endpoint: URL
    private let dataFetcher: any DataFetcher
    private let kept = Mutex(SieveCache<String, Kept>(limit: 4_096))

    init(endpoint: URL, dataFetcher: any DataFetcher) {
        (self.endpoint, self.dataFetcher) = (endpoint, dataFetcher)
    }

    /// Returns the credentials of a user, which are renewed when they expire or are refused.
    func credentials(of user: String) -> SessionCredentials {
        let last = Last()
        return .refreshing { [self] in
            try await last.next { field in try await credential(of: user, otherThan: field) }
        }
    }

    /// Asks whether a user may use the upstream, and keeps the new token.
    ///
    /// - Throws: A `FetchError` or a `ProblemDetails` if the endpoint does not answer with a token.
    func accepts(_ user: String) async throws -> Bool { try await newCredential(of: user) != nil }

    /// Makes the next session of a user get a new token.
    func forget(_ user: String) { kept.withLock { _ = $0.remove(user) } }

    /// Returns a token of a user: one that was obtained before, or a new one.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - refused: The token that the upstream has refused, or that has expired.
    /// - Returns: The token; `nil` if the user may not use the upstream.
    /// - Throws: A `FetchError` or a `ProblemDetails` if the endpoint does not answer with a token.
    func credential(of user: String, otherThan refused: HeaderField? = nil) async throws -> Credential? {
        if let earlier = kept.withLock({ $0.value(for: user) }), earlier.field != refused {
            guard let expiry = earlier.expiry else { return Credential(earlier.field) }
            let rest = ContinuousClock.now.duration(to: expiry)
            if rest > Self.margin { return Credential(earlier.field, expiresIn: rest) }
        }
        return try await newCredential(of: user)
    }

    private func newCredential(of user: String) async throws -> Credential? {
        // In a form, an unescaped “+” is a space.
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        )
        guard let escaped = user.addingPercentEncoding(withAllowedCharacters: unreserved),
            var address = URLComponents(url: endpoint, resolvingAgainstBaseURL: false)
        else { return nil }
        address.percentEncodedQuery = "user=\(escaped)"
        guard let url = address.url else { return nil }
        let request = DataRequest(method: .post, url: url)
        let response = try await dataFetcher.fetch(request)
        if [401, 403].contains(response.status.code) {
            forget(user)
            return nil
        }
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        // The syntax of a bearer token, by RFC 6750, section 2.1.
        guard let answer = try? JSONDecoder().decode(Answer.self, from: response.body),
            answer.token.wholeMatch(of: /[A-Za-z0-9\-._~+\/]+=*/) != nil
        else { throw ProblemDetails(502, detail: "The upstream has not answered with a token. Try again later.") }
        // A number out of this range is not a lifetime.
        let seconds = answer.expires_in.flatMap { (0...31_536_000).contains($0) ? $0 : nil }
        let credential = Credential.bearer(answer.token, expiresIn: seconds.map { .seconds($0) })
        let kept = Kept(field: credential.field, expiry: credential.lifetime.map { .now + $0 })
        _ = self.kept.withLock { $0.insert(kept, for: user, cost: 1) }
        return credential
    }
}
