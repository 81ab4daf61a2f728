public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An endpoint's list, page by page, each asked for when it is wanted.
///
/// The entities of a page are kept each by itself. A page is the upstream's at the moment it is asked for: what comes or goes
/// there meanwhile may be on two pages, or on none, unless the upstream's cursors see to it.
public struct Pages<Entity: Identifiable & Sendable>: AsyncSequence, Sendable where Entity.ID: Sendable {
    let source: EntitySource<Entity>
    let filter: EntityFilter<Entity>
    let paging: Paging
    let size: Int
    let bypassesCaches: Bool
    let throwIfClosed: @Sendable () throws(RepositoryError) -> Void

    /// Makes an iterator, which begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }

    /// Gives the pages one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Next {
            case number(Int)
            case cursor(String?)
            case end
        }

        private let pages: Pages
        private var next: Next
        private var lastIDs: Set<Entity.ID> = []
        /// The page before, if it had damaged records alone: their identities do not tell it from others.
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

        /// The next page; `nil` behind the last.
        ///
        /// - Throws: a `RepositoryError` if it is not to be had, or the upstream gives the same page for ever.
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
            // An empty page says no more than that there are no others.
            return page.recordCount == 0 ? nil : page.reading
        }

        /// The next page; `nil` behind the last.
        ///
        /// - Throws: a `RepositoryError` if it is not to be had, or the upstream gives the same page for ever.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RepositoryError) -> Reading<[Entity]>? {
            try await next()
        }

        /// The field that asks for the next page, which may be none; `nil` behind the last page.
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
    /// The entities that a filter lets through, page by page, if the endpoint has pages.
    ///
    /// - Parameters:
    ///   - filter: Which entities.
    ///   - size: How many records a page has, at least 1. An upstream that gives fewer is at its end.
    ///   - policy: Whether copies on the way to the upstream will do. Pages are not kept as such.
    /// - Returns: the pages; `nil` if the endpoint has none.
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
    /// A page of the entities that a filter lets through.
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
            // An upstream that does not know the filter answers with everything.
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

/// A page of a list as it was fetched.
struct FetchedPage<Entity: Identifiable & Sendable> where Entity.ID: Sendable {
    /// What of it was asked for.
    let reading: Reading<[Entity]>
    /// The identities of all that the upstream gave.
    let ids: Set<Entity.ID>
    /// How many records it gave, with the damaged ones.
    let recordCount: Int
    let answer: UpstreamAnswer
}
