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
    private struct State {
        var sessions: SessionRegistry<Reader>?
        /// What the newest session of guests uses.
        var guests: Reader?
        /// What was written before there were sessions.
        var waiting: [RecordKey] = []
    }

    private let state = Mutex(State())
    private let errorHandler: any ErrorHandler

    init(errorHandler: any ErrorHandler) { self.errorHandler = errorHandler }

    /// Relays to the session of guests in a registry from now on, also what was written earlier.
    func begin(to sessions: SessionRegistry<Reader>) async {
        let waiting = state.withLock { state in
            state.sessions = sessions
            defer { state.waiting = [] }
            return state.waiting
        }
        for key in waiting { await relay(key) }
    }

    /// Remembers what a new session of guests uses.
    func guestsHave(_ reader: Reader) { state.withLock { $0.guests = reader } }

    /// Returns a fetcher that relays each write that the upstream has done.
    ///
    /// - Parameters:
    ///   - base: The fetcher of a user.
    ///   - root: The base address of the upstream.
    /// - Returns: The fetcher.
    func relaying(_ base: any DataFetcher, below root: URL) -> any DecoratingDataFetcher {
        RelayingDataFetcher(base: base, rootLength: Self.path(of: root).count, relay: self)
    }

    fileprivate static func path(of url: URL) -> [String] { url.pathComponents.filter { $0 != "/" } }

    /// Makes the repositories of guests, here and on other instances, read again what a write has changed.
    fileprivate func relay(_ key: RecordKey) async {
        let sessions = state.withLock { state in
            if state.sessions == nil { state.waiting.append(key) }
            return state.sessions
        }
        guard let sessions else { return }
        do {
            try await sessions.withSession(of: FeedApp.guests) { try $0.own.forget(key) }
        } catch {
            // The registry refuses while the app shuts down, but writes are still delivered then.
            if let guests = state.withLock({ $0.guests }) { return guests.forget(key) }
            // The write is done nevertheless, and guests see it when they read again.
            errorHandler.handle(error)
        }
    }
}

/// A fetcher that relays writes.
private struct RelayingDataFetcher: DecoratingDataFetcher {
    var base: any DataFetcher
    let rootLength: Int
    let relay: WriteRelay

    var layer: DataFetcherLayer { DataFetcherLayer(.other, "relays writes to guests") }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await base.fetch(request)
        guard ![.get, .head].contains(request.method) else { return response }
        let isGone = request.method == .delete && [404, 410].contains(response.status.code)
        // Without an answer, guests keep what they have, because the upstream may be unavailable.
        guard response.status.isSuccess || isGone else { return response }
        // “posts”, “posts/7”, “posts/7/comments” or “comments/7”.
        await relay.relay(RecordKey(Array(WriteRelay.path(of: request.url).dropFirst(rootLength).prefix(2))))
        return response
    }
}
