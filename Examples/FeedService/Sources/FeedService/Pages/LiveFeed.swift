import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import NIOCore
import ServiceLifecycle
import Synchronization
import UseCases

/// The feed as server-sent events: each event is the list of posts in HTML, which the script of the page shows.
struct LiveFeed: Sendable {
    /// The number of streams.
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// A place among the streams, which is free again when nobody has it. A response can be dropped before its body begins.
    private final class Place: Sendable {
        private let count: Count
        /// Whether there was a place.
        let isFree: Bool

        init(_ count: Count, limit: Int) {
            self.count = count
            isFree = count.value.add(1, ordering: .relaxed).newValue <= limit
        }

        deinit { count.value.subtract(1, ordering: .relaxed) }
    }

    /// How long a connection may be silent. Proxies close those that are silent for longer, and only a write shows that a page has left.
    private static let silence = Duration.seconds(5)

    private let app: FeedApp
    private let settings: ServiceSettings
    private let count = Count()

    init(_ app: FeedApp, _ settings: ServiceSettings) {
        self.app = app
        self.settings = settings
    }

    func addRoutes(to router: some RouterMethods<FeedRequestContext>) {
        router.get("live/posts") { _, context in
            let place = Place(count, limit: settings.liveConnections)
            guard place.isFree else { throw ProblemDetails.unavailable(retryAfter: .seconds(5)) }
            let body = ResponseBody { writer in
                try await app.withSession(of: context.visitor) { try await follow($0, context.visitor, &writer) }
                try await writer.finish(nil)
                withExtendedLifetime(place) {}
            }
            return Response(
                status: .ok,
                headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"],
                body: body
            )
        }
    }

    /// Writes the state of a view model whenever it changes, until the client leaves, the sign-in of the visitor ends, or the server shuts
    /// down. The client then connects again, to another instance if there is one.
    private func follow(
        _ reader: Reader,
        _ visitor: Visitor,
        _ writer: inout any ResponseBodyWriter
    ) async throws {
        let viewModel = PostListViewModel(presenter: FeedPresenter(router: Page.router)) {
            query,
            policy throws(ReadFeedError) in
            try await reader.readFeed(query, policy)
        }
        // A reason to look at the state again. Those that are not handled yet are one.
        let (reasons, reason) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        defer { reason.finish() }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                for await _ in viewModel.states { reason.yield() }
                reason.finish()
            }
            group.addTask {
                // The first reading is there at once. The others follow writes, here and on other instances.
                do {
                    for try await _ in reader.postChanges { try await viewModel.send(.load) }
                } catch {
                    // The upstream cannot be read. The loads below go on.
                }
            }
            group.addTask {
                while (try? await app.timer.sleep(for: Self.silence)) != nil {
                    // If the store cannot tell, the stream goes on.
                    guard (try? await app.signIns.isSignedIn(visitor)) ?? true else { return reason.finish() }
                    // What changes at the upstream itself is noticed when the posts are stale.
                    try await viewModel.send(.load)
                    reason.yield()
                }
            }
            try await withGracefulShutdownHandler {
                var last: HTML?
                for await _ in reasons {
                    guard let posts = viewModel.state.posts else {
                        try await writer.write(ByteBuffer(string: ": still here\n\n"))
                        continue
                    }
                    let html = FeedPages.list(posts)
                    try await writer.write(ByteBuffer(string: html == last ? ": still here\n\n" : Self.event(html)))
                    last = html
                }
            } onGracefulShutdown: {
                reason.finish()
            }
            group.cancelAll()
        }
        await viewModel.close()
    }

    /// An event with several lines of data.
    static func event(_ html: HTML) -> String {
        // A carriage return ends a line of the stream, too.
        let lines = html.markup.unicodeScalars.split(omittingEmptySubsequences: false) { ["\n", "\r"].contains($0) }
            .map { "data: \(String($0))\n" }
        return "event: posts\n" + lines.joined() + "\n"
    }
}
