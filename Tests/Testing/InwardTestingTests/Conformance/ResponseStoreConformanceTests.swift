import Foundation
import InwardFetching
import InwardRepositories
import Testing
import Thoroughness

@testable import InwardTesting

@Suite(.timeLimit(.minutes(5)))
struct ResponseStoreConformanceTests {
    @Test func storeInMemoryConforms() async throws {
        let store = InMemoryResponseStore()
        try await ResponseStoreConformance { store }.check()
    }

    @Test func storeOverRecordsConforms() async throws {
        let records = InMemoryRecordStore()
        try await ResponseStoreConformance { RecordResponseStore(records, under: ["responses"]) }.check()
        #expect(try await records.records(under: []).allSatisfy { $0.record.expiry != nil })
    }

    @Test(arguments: Thoroughness.sample(FlawedResponseStore.Flaw.allCases, every: 5))
    func everyFlawIsFound(flaw: FlawedResponseStore.Flaw) async throws {
        let base = InMemoryResponseStore()
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await ResponseStoreConformance {
                FlawedResponseStore(flaw == .forgets ? InMemoryResponseStore() : base, flaw)
            }.check()
        }
        for violation in failure?.violations ?? [] { #expect(violation.hasSuffix("."), "\(violation)") }
    }

    @Test func storeInMemoryFailsOnDemand() async throws {
        let store = InMemoryResponseStore()
        let failure = ResponseStoreError(explanation: "There is no space left.")
        store.fail(with: failure)
        await #expect(throws: failure) { try await store.commit([.removeAll]) }
        await #expect(throws: failure) { try await store.responses(for: "") }
        await #expect(throws: failure) { try await store.metadata(after: nil, limit: 1) }
        #expect(store.commits.isEmpty)
        store.fail(with: nil)
        try await store.commit([.removeAll])
        #expect(store.commits == [[.removeAll]])
    }
}

/// A store with a flaw.
struct FlawedResponseStore: ResponseStore {
    enum Flaw: CaseIterable {
        case reverses, keepsOneResponse, dropsEmptyBodies, cutsBodies, dropsExpiry, dropsMetadata, confusesURLs
        case ignoresRemoval, removesBelow, addsInsteadOfReplacing, changesInReverseOrder, removesNothingAtAll, forgets
        case repeatsPages, endsAtRemovedURL, exceedsLimit, listsNoMetadata, endsAfterOnePage
        case removesEqualBodies, overwritesConcurrentCommits, fails
    }

    private let base: InMemoryResponseStore
    private let flaw: Flaw

    init(_ base: InMemoryResponseStore, _ flaw: Flaw) {
        self.base = base
        self.flaw = flaw
    }

    func responses(for url: String) async throws(ResponseStoreError) -> [KeptResponse] {
        if flaw == .fails { throw ResponseStoreError(explanation: "Something failed.") }
        let responses = try await base.responses(
            for: flaw == .confusesURLs ? url.lowercased().prefix(4).description : url
        )
        return switch flaw {
        case .reverses: responses.reversed()
        case .keepsOneResponse: Array(responses.prefix(1))
        case .dropsEmptyBodies: responses.filter { !$0.body.isEmpty }
        case .cutsBodies:
            responses.map {
                KeptResponse(metadata: $0.metadata, body: $0.body.prefix(65_536), expiry: $0.expiry)
            }
        case .dropsExpiry:
            responses.map { KeptResponse(metadata: $0.metadata, body: $0.body, expiry: .distantFuture) }
        case .dropsMetadata: responses.map { KeptResponse(metadata: Data(), body: $0.body, expiry: $0.expiry) }
        default: responses
        }
    }

    func metadata(
        after url: String?,
        limit: Int
    ) async throws(ResponseStoreError) -> [(url: String, metadata: [Data])] {
        switch flaw {
        case .repeatsPages: return try await base.metadata(after: nil, limit: limit)
        case .endsAtRemovedURL:
            if let url, try await base.responses(for: url).isEmpty { return [] }
        case .exceedsLimit: return try await base.metadata(after: url, limit: limit + 1)
        case .listsNoMetadata: return try await base.metadata(after: url, limit: limit).map { ($0.url, []) }
        case .endsAfterOnePage: if url != nil { return [] }
        default: break
        }
        return try await base.metadata(after: url, limit: limit)
    }

    func commit(_ changes: [ResponseStoreChange]) async throws(ResponseStoreError) {
        var all: [ResponseStoreChange] = []
        for change in changes { all += try await flawed(change) }
        if flaw == .changesInReverseOrder { all.reverse() }
        if flaw == .overwritesConcurrentCommits {
            var contents: [ResponseStoreChange] = [.removeAll]
            for url in base.urls { contents.append(.keep(try await base.responses(for: url), under: url)) }
            for _ in 0..<10 { await Task.yield() }
            all = contents + all
        }
        try await base.commit(all)
    }

    private func flawed(_ change: ResponseStoreChange) async throws(ResponseStoreError) -> [ResponseStoreChange] {
        switch (change, flaw) {
        case (.remove, .ignoresRemoval), (.removeAll, .removesNothingAtAll): return []
        case (.remove(let url), .removesBelow): return base.urls.filter { $0.hasPrefix(url) }.map { .remove(under: $0) }
        case (.remove(let url), .removesEqualBodies):
            let bodies = try await base.responses(for: url).map(\.body)
            var changes = [change]
            for other in base.urls {
                if try await base.responses(for: other).contains(where: { bodies.contains($0.body) }) {
                    changes.append(.remove(under: other))
                }
            }
            return changes
        case (.keep(let responses, let url), .addsInsteadOfReplacing):
            return [.keep(try await base.responses(for: url) + responses, under: url)]
        case (.keep(let responses, let url), .confusesURLs):
            return [.keep(responses, under: url.lowercased().prefix(4).description)]
        default: return [change]
        }
    }
}
