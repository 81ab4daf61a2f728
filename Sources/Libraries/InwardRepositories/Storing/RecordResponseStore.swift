public import InwardFetching
import InwardTransfers

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of cached responses in a ``RecordStore``.
///
/// ```swift
/// func makeCatalog(
///     in store: any RecordStore,
///     of client: some DataFetcher,
///     cache: ResponseCache
/// ) -> any DataFetcher {
///     let responses = RecordResponseStore(store, under: ["responses", "catalog"])
///     return client.caching(in: cache.makePartition(.shared, over: responses))
/// }
/// ```
///
/// The records have an expiry, so they are cached copies: the store may evict them, and no damage to them counts as a loss.
///
/// Give each partition a key of its own, and a private one a key of its user. Several processes may use the same key of one store. Each then
/// finds what the others have kept. But what one removes, another may still have in memory, and may store again if it was asking for it at that
/// time. So share a store only where a response may be outdated until it is stale.
public struct RecordResponseStore: ResponseStore {
    private let records: any RecordStore
    private let urls: RecordKey
    private let bodies: RecordKey
    private let uses: RecordKey
    private let prefix: RecordKey
    private let makeIdentifier: @Sendable () -> String
    private let now: @Sendable () -> Date

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - records: The store of the records.
    ///   - key: The key of all records.
    ///   - makeIdentifier: Returns a text that it has never returned before, in any process.
    ///   - now: Returns the current date.
    public init(
        _ records: any RecordStore,
        under key: RecordKey,
        makeIdentifier: @escaping @Sendable () -> String = { UUID().uuidString },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.records = records
        prefix = key
        urls = key.appending("urls")
        bodies = key.appending("bodies")
        uses = key.appending("uses")
        self.makeIdentifier = makeIdentifier
        self.now = now
    }

    // MARK: Reading

    /// Returns the responses whose bodies are still in the store.
    ///
    /// - Throws: A `ResponseStoreError` with the explanation of the ``RecordStoreError``.
    public func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse] {
        do throws(RecordStoreError) {
            let entries = try await entries(for: url) ?? []
            let found = try await records.records(for: entries.map { key(of: $0.body) })
            return zip(entries, found).compactMap { entry, record in
                record.map { KeptResponse(metadata: entry.metadata, body: Data($0.bytes), expiry: entry.expiry) }
            }
        } catch {
            throw ResponseStoreError(error)
        }
    }

    /// Returns a page of URLs in the order of their bytes.
    ///
    /// - Throws: A `ResponseStoreError` with the explanation of the ``RecordStoreError``.
    public func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])] {
        do throws(RecordStoreError) {
            let page = try await records.records(under: urls, after: url.map(urls.appending), limit: limit)
            return page.compactMap { key, record in
                key.components.last.map { ($0, Self.entries(in: record).map(\.metadata)) }
            }
        } catch {
            throw ResponseStoreError(error)
        }
    }

    // MARK: Changing

    /// Makes changes in one commit.
    ///
    /// - Throws: A `ResponseStoreError` with the explanation of the ``RecordStoreError``.
    public func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError) {
        do throws(RecordStoreError) {
            var commit = Commit()
            for change in changes {
                switch change {
                case .keep(let responses, let url): try await keep(responses, under: url, &commit)
                case .remove(let url): try await keep([], under: url, &commit)
                case .removeAll: commit = Commit(changes: [.removeAll(prefix)], isEmptied: true)
                }
            }
            if !commit.changes.isEmpty { try await records.commit(commit.changes) }
        } catch {
            throw ResponseStoreError(error)
        }
    }

    /// The changes of one commit, and what they lead to.
    private struct Commit {
        var changes: [RecordChange] = []
        /// Whether nothing that is stored remains.
        var isEmptied = false
        /// The new entries by URL.
        var entries: [String: [Entry]] = [:]
        /// The bodies that the commit keeps, and when they expire.
        var bodies: [Body: StoredRecord] = [:]
        /// The bodies that the commit removes.
        var removedBodies: Set<Body> = []
    }

    private func keep(
        _ responses: [KeptResponse],
        under url: String,
        _ commit: inout Commit
    ) async throws(RecordStoreError) {
        let old = try await entries(for: url, after: commit)
        var new: [Entry] = []
        for response in responses {
            let body = try await body(of: response, &commit)
            new.append(Entry(metadata: response.metadata, body: body, expiry: response.expiry))
        }
        commit.entries[url] = new
        if let expiry = new.map(\.expiry).max(), let bytes = try? JSONEncoder().encode(new) {
            commit.changes.append(.keep(StoredRecord(Array(bytes), expiry: expiry), urls.appending(url)))
            for entry in new {
                commit.changes.append(.keep(StoredRecord([], expiry: expiry), key(ofUseOf: entry.body, by: url)))
            }
        } else if old != nil {
            commit.changes.append(.remove(urls.appending(url)))
        }
        for body in Set((old ?? []).map(\.body)).subtracting(new.map(\.body)) {
            commit.changes.append(.remove(key(ofUseOf: body, by: url)))
            if try await !isUsed(body, after: commit) {
                commit.changes.append(.remove(key(of: body)))
                commit.bodies[body] = nil
                commit.removedBodies.insert(body)
            }
        }
    }

    /// Returns where the body of a response is, and stores it if it is not there yet, or expires too early.
    private func body(of response: KeptResponse, _ commit: inout Commit) async throws(RecordStoreError) -> Body {
        let checksum = String(Checksum(of: Array(response.body).span).value, radix: 16)
        let found = try await found(response.body, checksum, commit)
        if let found, lastsLongEnough(found.record, for: response) {
            commit.bodies[found.body] = found.record
            return found.body
        }
        let body = found?.body ?? Body(checksum: checksum, identifier: makeIdentifier())
        let record = StoredRecord(Array(response.body), expiry: response.expiry)
        commit.bodies[body] = record
        commit.removedBodies.remove(body)
        commit.changes.append(.keep(record, key(of: body)))
        return body
    }

    /// Returns where a body is; `nil` if it is not stored.
    private func found(
        _ bytes: Data,
        _ checksum: String,
        _ commit: Commit
    ) async throws(RecordStoreError) -> (body: Body, record: StoredRecord)? {
        let kept = commit.bodies.first { $0.key.checksum == checksum && $0.value.bytes.elementsEqual(bytes) }
        if let kept { return (kept.key, kept.value) }
        if commit.isEmptied { return nil }
        // Bodies with equal checksums differ if someone wants them to. Then only some of them are compared.
        let candidates = try await records.records(
            under: bodies.appending(checksum),
            after: nil,
            limit: Self.candidateLimit
        )
        for (key, record) in candidates where record.bytes.elementsEqual(bytes) {
            guard let identifier = key.components.last else { continue }
            let body = Body(checksum: checksum, identifier: identifier)
            if !commit.removedBodies.contains(body) { return (body, record) }
        }
        return nil
    }

    private static let candidateLimit = 4

    /// Returns whether a stored body need not be written again for a response that expires later: this would cost as much as to store
    /// it anew, each time that the response is validated.
    private func lastsLongEnough(_ record: StoredRecord, for response: KeptResponse) -> Bool {
        guard let expiry = record.expiry else { return true }
        let now = now()
        return expiry.timeIntervalSince(now) >= response.expiry.timeIntervalSince(now) / 2
    }

    /// Returns whether a URL uses a body.
    private func isUsed(_ body: Body, after commit: Commit) async throws(RecordStoreError) -> Bool {
        if commit.entries.values.contains(where: { $0.contains { $0.body == body } }) { return true }
        if commit.isEmptied { return false }
        // All URLs with new entries could be the first ones.
        let users = try await records.records(under: key(ofUsesOf: body), after: nil, limit: commit.entries.count + 1)
        return users.contains { user in user.key.components.last.map { commit.entries[$0] == nil } ?? false }
    }

    // MARK: Records

    /// Where a body is.
    private struct Body: Hashable, Codable {
        let checksum: String
        let identifier: String
    }

    /// A response under a URL.
    private struct Entry: Codable {
        let metadata: Data
        let body: Body
        let expiry: Date
    }

    private func key(of body: Body) -> RecordKey { bodies.appending(body.checksum).appending(body.identifier) }

    private func key(ofUsesOf body: Body) -> RecordKey { uses.appending(body.checksum).appending(body.identifier) }

    private func key(ofUseOf body: Body, by url: String) -> RecordKey { key(ofUsesOf: body).appending(url) }

    /// Returns the entries stored under a URL; `nil` if it has no record.
    private func entries(for url: String) async throws(RecordStoreError) -> [Entry]? {
        try await records.record(for: urls.appending(url)).map(Self.entries)
    }

    private func entries(for url: String, after commit: Commit) async throws(RecordStoreError) -> [Entry]? {
        if let entries = commit.entries[url] { return entries }
        return commit.isEmptied ? nil : try await entries(for: url)
    }

    /// Returns the entries in a record; none if they are in another format.
    private static func entries(in record: StoredRecord) -> [Entry] {
        (try? JSONDecoder().decode([Entry].self, from: Data(record.bytes))) ?? []
    }
}

extension ResponseStoreError {
    fileprivate init(_ error: RecordStoreError) {
        self.init(explanation: error.explanation)
    }
}
