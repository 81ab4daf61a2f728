public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The pages of an endpoint's list, each requested on demand.
///
///     if let pages = comments.pages(of: 50) {
///         for try await page in pages { print(page.value.count) }
///     }
///
/// The entities of a page are cached individually. Each page reflects the upstream at the time of its request. If the list changes
/// between requests, an entity may be on two pages or on none, unless the upstream's cursors prevent it.
public struct Pages<Entity: Identifiable & Sendable>: AsyncSequence, Sendable where Entity.ID: Sendable {
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
            case end
        }

        private let pages: Pages
        private var next: Next
        private var lastIDs: Set<Entity.ID> = []
        /// The body of the previous page, if it had only damaged records, which have no identifiers to compare.
        private var lastDamagedPage: Data?
        private var cursors: Set<String> = []

        fileprivate init(pages: Pages) {
            self.pages = pages
            next =
                switch pages.paging.place {
                case .number(_, let first): .number(first)
                case .offset: .number(0)
                case .cursor: .cursor(nil)
                }
        }

        /// Returns the next page; `nil` after the last.
        ///
        /// - Throws: a `RepositoryError` if the page is not available, or the upstream repeats the same page.
        public mutating func next() async throws(RepositoryError) -> Reading<[Entity]>? {
            guard let place = field() else { return nil }
            let fields = place.map { [$0] } ?? []
            try pages.throwIfClosed()
            let page = try await pages.source.fetchPage(
                pages.filter,
                fields + [(pages.paging.sizeField, String(pages.size))],
                bypassingCaches: pages.bypassesCaches
            )
            try advance(behind: page)
            // An empty page only marks the end.
            return page.recordCount == 0 ? nil : page.reading
        }

        /// Returns the next page; `nil` after the last.
        ///
        /// - Throws: a `RepositoryError` if the page is not available, or the upstream repeats the same page.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<[Entity]>? {
            try await next()
        }

        /// Returns the query field of the next page, which may be absent; `nil` after the last page.
        private func field() -> (name: String, value: String)?? {
            switch (next, pages.paging.place) {
            case (.number(let number), .number(let field, _)), (.number(let number), .offset(let field)):
                .some((field, String(number)))
            case (.cursor(let cursor), .cursor(let field, _)): .some(cursor.map { (field, $0) })
            default: nil
            }
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
            default:
                next = .end
            }
            if isRepeated, case .number = next { throw endless(page.answer) }
        }

        private mutating func endless(_ answer: UpstreamAnswer) -> RepositoryError {
            next = .end
            return RepositoryError(
                .unreadable,
                request: answer.request.description,
                explanation: "was answered with a page that came before: the upstream does not turn pages as asked"
            )
        }
    }
}

extension Repository {
    /// Returns the entities that match a filter, page by page.
    ///
    /// - Parameters:
    ///   - filter: The entities to return.
    ///   - size: The number of records on a page, at least 1. A shorter page is the last one.
    ///   - policy: Whether to accept copies from intermediate caches. Pages themselves are not cached.
    /// - Returns: the pages; `nil` if the endpoint does not support paging.
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
                throwIfClosed: { [weak self, path = endpoint.path] () throws(RepositoryError) in
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
        _ fields: [(name: String, value: String)],
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> FetchedPage<Entity> {
        let asked = filter.fields.map { ($0.name, $0.value) } + fields
        let tick = memory.begin()
        defer { memory.end(tick) }
        let (answer, time) = try await read(
            endpoint.path,
            asked.map { URLQueryItem(name: $0.0, value: $0.1) },
            bypassingCaches: bypassingCaches
        )
        let list = try answer.decoded(by: endpoint.decodeList)
        if answer.mayBeKept {
            let stamp = stamp(tick, time, of: answer, share: max(1, list.entities.count))
            for entity in list.entities { memory.keep(entity, stamp) }
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

/// A page as fetched.
struct FetchedPage<Entity: Identifiable & Sendable> where Entity.ID: Sendable {
    /// The entities that match the filter.
    let reading: Reading<[Entity]>
    /// The identifiers of all entities on the page.
    let ids: Set<Entity.ID>
    /// The number of records on the page, including damaged ones.
    let recordCount: Int
    let answer: UpstreamAnswer
}
