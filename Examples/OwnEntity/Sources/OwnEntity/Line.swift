import Foundation
import InwardCore
import InwardFetching
import Synchronization

/// A connection to the upstream that the example can cut, to simulate that the service is offline.
final class Line: DataFetcher {
    private let base: any DataFetcher
    private let cut = Atomic(false)

    init(_ base: any DataFetcher) {
        self.base = base
    }

    var isCut: Bool {
        get { cut.load(ordering: .acquiring) }
        set { cut.store(newValue, ordering: .releasing) }
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard !isCut else {
            let explanation = "was not sent, because the connection is cut"
            throw FetchError(.unreachable, request: request, explanation: explanation, wasSent: false)
        }
        return try await base.fetch(request)
    }
}

/// A client of the upstream's token service, whose tokens expire after some seconds.
actor TokenService {
    private struct Token: Decodable {
        let token: String
        let expires_in: Double
    }

    private let url: URL
    private let dataFetcher: any DataFetcher
    private var latest: (token: Token, expiry: ContinuousClock.Instant)?
    /// The number of tokens issued so far.
    private(set) var count = 0

    init(_ url: URL, _ dataFetcher: any DataFetcher) {
        self.url = url.appending(path: "_token").appending(queryItems: [URLQueryItem(name: "user", value: "ada")])
        self.dataFetcher = dataFetcher
    }

    /// Returns a new token.
    func current() async throws -> Credential {
        let request = DataRequest(method: .post, url: url)
        let response = try await dataFetcher.fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
        let token = try JSONDecoder().decode(Token.self, from: response.body)
        latest = (token, .now + .seconds(token.expires_in))
        count += 1
        return .bearer(token.token, expiresIn: .seconds(token.expires_in))
    }

    /// Waits until the latest token has expired.
    func waitUntilExpired() async {
        if let latest { try? await Task.sleep(until: latest.expiry + .milliseconds(100)) }
    }
}
