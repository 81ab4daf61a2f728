import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import Synchronization

/// Lets guests see what users write.
///
/// Users read with tokens of their own, so their repositories are separate from those of guests, which would notice their writes only when
/// they read again.
final class WriteRelay: Sendable {
    private let sessions = Mutex<SessionRegistry<Reader>?>(nil)
    private let errorHandler: any ErrorHandler

    init(errorHandler: any ErrorHandler) { self.errorHandler = errorHandler }

    /// Relays to the guests' session in this registry from now on.
    func begin(to sessions: SessionRegistry<Reader>) { self.sessions.withLock { $0 = sessions } }

    /// Returns a fetcher that relays each write that the upstream has done.
    ///
    /// - Parameters:
    ///   - base: The fetcher of a user.
    ///   - root: The base address of the upstream.
    /// - Returns: The fetcher.
    func relaying(_ base: any DataFetcher, below root: URL) -> any DataFetcher {
        RelayingDataFetcher(base: base, rootLength: Self.path(of: root).count, relay: self)
    }

    fileprivate static func path(of url: URL) -> [String] { url.pathComponents.filter { $0 != "/" } }

    /// Makes the repositories of guests, here and on other instances, read again what a write has changed.
    fileprivate func relay(_ key: RecordKey) async {
        guard let sessions = sessions.withLock({ $0 }) else { return }
        do {
            try await sessions.withSession(of: FeedApp.guests) { try $0.own.forget(key) }
        } catch {
            // The write is done nevertheless, and guests see it when they read again.
            errorHandler.handle(error)
        }
    }
}

/// A fetcher that relays writes.
private struct RelayingDataFetcher: DataFetcher {
    let base: any DataFetcher
    let rootLength: Int
    let relay: WriteRelay

    var honorsDeadlines: Bool { base.honorsDeadlines }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await base.fetch(request)
        guard ![.get, .head].contains(request.method), response.status.isSuccess else { return response }
        // “posts”, “posts/7”, “posts/7/comments” or “comments/7”.
        await relay.relay(RecordKey(Array(WriteRelay.path(of: request.url).dropFirst(rootLength).prefix(2))))
        return response
    }
}
