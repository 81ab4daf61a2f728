public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An asynchronous sequence of the pages of a list. It requests each page when the iteration reaches it.
///
/// ```swift
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", paging: .numbers("page", size: "per_page"))
/// let comments = Repository(endpoint, upstream: upstream)
/// if let pages = comments.pages(of: 50) {
///     for try await page in pages {
///         print(page.value.count)
///     }
/// }
/// ```
///
/// The repository caches the entities of a page, but not the page itself, so it fetches the page again each time. The data
/// fetcher of the upstream may cache it. Each page shows the list at the time of its request. If the list changes between
/// requests, an entity may be on two pages or on none. An upstream can prevent this with cursors.
public struct Pages<Entity: Identifiable & Sendable>: AsyncSequence, Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    let source: EntitySource<Entity>
    let filter: EntityFilter<Entity>
    let paging: Paging
    let size: Int
    let bypassesCaches: Bool
    let throwIfClosed: @Sendable () throws(RepositoryError) -> Void

    /// Creates an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// An iterator over the pages.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Next {
            case number(Int)
            case cursor(String?)
            /// The URL of the page, or `nil` for the list itself.
            case link(URL?)
            case end
        }

        private let pages: Pages
        private var next: Next
        private var lastIDs: Set<Entity.ID> = []
        /// The body of the previous page, if all of its records were damaged and so have no identifiers to compare.
        private var lastDamagedPage: Data?
        /// The cursors and addresses of earlier pages, to detect a cycle.
        private var cursors: Set<String> = []

        fileprivate init(pages: Pages) {
            self.pages = pages
            next =
                switch pages.paging.place {
                case .number(_, let first): .number(first)
                case .offset: .number(0)
                case .cursor: .cursor(nil)
                case .link: .link(nil)
                }
        }

        /// Returns the next page, or `nil` after the last.
        ///
        /// - Throws: a `RepositoryError` if the page is not available, or the upstream repeats the same page.
        public mutating func next() async throws(RepositoryError) -> Reading<[Entity]>? {
            while let url = try url() {
                try pages.throwIfClosed()
                let page = try await pages.source.fetchPage(pages.filter, url, bypassingCaches: pages.bypassesCaches)
                try advance(behind: page)
                // An empty page is the last one, or one whose records the upstream has filtered out.
                if page.recordCount > 0 { return page.reading }
            }
            return nil
        }

        /// Returns the next page, or `nil` after the last.
        ///
        /// - Throws: a `RepositoryError` if the page is not available, or the upstream repeats the same page.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<[Entity]>? {
            try await next()
        }

        /// Returns the URL of the next page, or `nil` after the last page.
        private func url() throws(RepositoryError) -> URL? {
            switch (next, pages.paging.place) {
            case (.number(let number), .number(let field, _)), (.number(let number), .offset(let field)):
                try url([URLQueryItem(name: field, value: String(number))])
            case (.cursor(let cursor), .cursor(let field, _)):
                try url(cursor.map { [URLQueryItem(name: field, value: $0)] } ?? [])
            case (.link(nil), .link): try url([])
            case (.link(let url), .link): url
            default: nil
            }
        }

        private func url(_ place: [URLQueryItem]) throws(RepositoryError) -> URL {
            let size = pages.paging.sizeField.map { [URLQueryItem(name: $0, value: String(pages.size))] } ?? []
            return try pages.source.upstream.url(
                of: pages.filter.path ?? pages.source.endpoint.path,
                pages.filter.fields.map { URLQueryItem(name: $0.name, value: $0.value) } + place + size
            )
        }

        private mutating func advance(behind page: FetchedPage<Entity>) throws(RepositoryError) {
            let body = page.answer.response.body
            let isRepeated =
                page.ids.isEmpty ? page.recordCount > 0 && body == lastDamagedPage : page.ids == lastIDs
            lastIDs = page.ids
            lastDamagedPage = page.ids.isEmpty ? body : nil
            switch (next, pages.paging.place) {
            case (.number(let number), .number):
                next = page.recordCount < pages.size ? .end : .number(number + 1)
            case (.number(let number), .offset):
                next = page.recordCount < pages.size ? .end : .number(number + page.recordCount)
            case (.cursor, .cursor(_, let cursor)):
                guard let following = cursor(page.answer.response), !following.isEmpty else {
                    next = .end
                    return
                }
                guard cursors.insert(following).inserted else { throw endless(page.answer) }
                next = .cursor(following)
            case (.link, .link(let link)):
                guard let reference = link(page.answer.response) else {
                    next = .end
                    return
                }
                next = .link(try following(reference, page.answer))
            default:
                next = .end
            }
            if isRepeated, case .number = next { throw endless(page.answer) }
        }

        /// Returns the URL of the page that a response names as the next one.
        private mutating func following(
            _ reference: String,
            _ answer: UpstreamAnswer
        ) throws(RepositoryError) -> URL {
            let current = answer.response.url ?? answer.request.url
            // A request to another origin would carry credentials that only the upstream may see.
            guard let url = URL(string: reference, relativeTo: current)?.absoluteURL,
                WebOrigin(url) == WebOrigin(pages.source.upstream.baseURL)
            else {
                next = .end
                throw RepositoryError(
                    .unreadable,
                    request: answer.request.description,
                    explanation:
                        "names a next page that is not at the upstream's origin: “\(reference.excerpt(upTo: 80))”"
                )
            }
            guard cursors.insert(url.absoluteString).inserted, url != answer.request.url else { throw endless(answer) }
            return url
        }

        private mutating func endless(_ answer: UpstreamAnswer) -> RepositoryError {
            next = .end
            return RepositoryError(
                .unreadable,
                request: answer.request.description,
                explanation: "returned an earlier page again; check the endpoint's paging against the upstream's"
            )
        }
    }
}

extension Repository {
    /// Returns the entities that match a filter, page by page.
    ///
    /// ```swift
    /// guard let pages = comments.pages(of: 50) else { return }
    /// for try await page in pages { print(page.value.count) }
    /// ```
    ///
    /// - Parameters:
    ///   - filter: The entities to return.
    ///   - size: The number of records on a page, at least 1. With page numbers and offsets, a shorter page is the last one.
    ///   - policy: Whether to accept copies from intermediate caches. The repository itself does not cache pages.
    /// - Returns: the pages, or `nil` if the endpoint has no ``Paging``.
    public func pages(
        _ filter: EntityFilter<Entity> = .all,
        of size: Int,
        _ policy: ReadPolicy = .cacheFirst
    ) -> Pages<Entity>? {
        endpoint.paging.map { paging in
            Pages(
                source: source,
                filter: filter,
                paging: paging,
                size: Swift.max(1, size),
                bypassesCaches: !policy.allowsCopies,
                throwIfClosed: { [weak self, path = filter.path ?? endpoint.path] () throws(RepositoryError) in
                    try self?.throwIfClosed(asking: path)
                }
            )
        }
    }
}

extension EntitySource {
    /// Fetches a page of the entities that match a filter.
    func fetchPage(
        _ filter: EntityFilter<Entity>,
        _ url: URL,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> FetchedPage<Entity> {
        let fetch = await begin()
        defer { memory.end(fetch.tick) }
        let (answer, time) = try await read(url, bypassingCaches: bypassingCaches)
        let list = try answer.decoded(by: endpoint.decodeList)
        if answer.mayBeKept {
            let stamp = stamp(fetch, time, of: answer, share: max(1, list.entities.count))
            for entity in list.entities { cache.keep(entity, stamp) }
        }
        return FetchedPage(
            // An upstream that ignores the filter returns everything.
            reading: answer.reading(
                list.entities.filter(filter.matches),
                fresh: endpoint.lifetimes.staleAfter,
                rejected: list.rejected
            ),
            ids: Set(list.entities.map(\.id)),
            recordCount: list.entities.count + list.rejected.count,
            answer: answer
        )
    }
}

/// A page and the response that it came in.
struct FetchedPage<Entity: Identifiable & Sendable> where Entity.ID: Sendable & LosslessStringConvertible {
    /// The entities that match the filter.
    let reading: Reading<[Entity]>
    /// The identifiers of all entities on the page.
    let ids: Set<Entity.ID>
    /// The number of records on the page, including damaged ones.
    let recordCount: Int
    let answer: UpstreamAnswer
}
