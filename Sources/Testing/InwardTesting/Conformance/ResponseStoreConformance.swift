public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A check of the requirements for response stores, as `ResponseStore` describes them.
///
/// ```swift
/// func checkResponseStore() async throws {
///     let store = InMemoryResponseStore()
///     try await ResponseStoreConformance { store }.check()
/// }
/// ```
///
/// The check requires that:
///
/// - a response is read as it was kept, whatever its URL, size and number, also by a store that is opened later;
/// - changes take effect in order, and concern only their URL;
/// - pages list each URL once, even if URLs are removed meanwhile;
/// - the removal of a response leaves other responses with an equal body;
/// - concurrent calls change nothing of what others keep.
public struct ResponseStoreConformance: Sendable {
    private let open: @Sendable () async throws -> any ResponseStore

    /// Creates a check.
    ///
    /// - Parameter open: Opens the store, each time with the same contents. The check removes them.
    public init(open: @escaping @Sendable () async throws -> any ResponseStore) {
        self.open = open
    }

    /// Checks stores.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check() async throws(ConformanceFailure) {
        let checks: [(any ResponseStore) async throws -> [String]] = [
            contentViolations, changeViolations, pageViolations, bodyViolations, concurrencyViolations,
        ]
        var violations: [String] = []
        for check in checks {
            do {
                let store = try await open()
                try await store.commit([.removeAll])
                violations += try await check(store)
            } catch {
                violations.append("A store must not fail, but did: \(error)")
            }
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    // MARK: Requirements

    private static let urls = [
        "https://example.org", "https://example.org/", "https://example.org/a", "https://example.org/a/b",
        "https://example.org/a?b", "https://example.org/%61", "https://example.org:443/a", "https://例え.example/",
        "https://example.org/" + String(repeating: "long", count: 1_000), "",
    ]

    /// Responses are read as they were kept.
    private func contentViolations(_ store: any ResponseStore) async throws -> [String] {
        let bodies = [Data(), Data([0]), Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })]
        var kept: [String: [KeptResponse]] = [:]
        for (number, url) in Self.urls.enumerated() {
            let responses = bodies.dropFirst(number % 3).map { response("\(number)", $0) }
            kept[url] = responses + [response("last", Data("\(number)".utf8))]
            try await store.commit([.keep(kept[url] ?? [], under: url)])
        }
        return try await violations(store, kept)
    }

    /// Changes take effect in order, and only on their URL.
    private func changeViolations(_ store: any ResponseStore) async throws -> [String] {
        let (one, two, three) = (response("1"), response("2"), response("3"))
        try await store.commit([.keep([one, two], under: "a"), .keep([one], under: "b"), .remove(under: "c")])
        try await store.commit([
            .keep([three], under: "a"), .keep([three], under: "c"), .remove(under: "c"), .remove(under: "nothing"),
        ])
        var violations = try await violations(store, ["a": [three], "b": [one], "c": [], "nothing": []])
        try await store.commit([.remove(under: "b"), .keep([two], under: "b"), .keep([three, one], under: "b")])
        violations += try await self.violations(store, ["a": [three], "b": [three, one]])
        try await store.commit([.keep([one], under: "d"), .removeAll, .keep([two], under: "a")])
        violations += try await self.violations(store, ["a": [two], "b": [], "d": []])
        try await store.commit([.removeAll])
        violations += try await self.violations(store, ["a": []])
        try await store.commit([])
        return violations
    }

    /// Pages list each URL once.
    private func pageViolations(_ store: any ResponseStore) async throws -> [String] {
        for url in Self.urls { try await store.commit([.keep([response(url), response("other")], under: url)]) }
        var seen: [String] = []
        var violations: [String] = []
        while true {
            let page = try await store.metadata(after: seen.last, limit: 3)
            guard let last = page.last else { break }
            if page.count > 3 { violations.append("A page of at most 3 URLs has \(page.count).") }
            for (url, metadata) in page where metadata != [Data(url.utf8), Data("other".utf8)] {
                violations.append(
                    "The page must have the metadata of \(excerpt(url)), but has \(metadata.count)."
                )
            }
            seen += page.map(\.url)
            // What has been listed may be removed.
            try await store.commit([.remove(under: last.url)])
            if seen.count > Self.urls.count { break }
        }
        if seen.sorted() != Self.urls.sorted() {
            violations.append("The pages must list each URL once, but list \(seen.map(excerpt)).")
        }
        return violations
    }

    /// Equal bodies may be stored once, but none is removed while a response has it.
    private func bodyViolations(_ store: any ResponseStore) async throws -> [String] {
        let body = Data("a body".utf8)
        let (one, two) = (response("1", body), response("2", body))
        try await store.commit([.keep([one, two], under: "a"), .keep([one], under: "b")])
        try await store.commit([.keep([two], under: "c")])
        try await store.commit([.remove(under: "a")])
        var violations = try await violations(store, ["a": [], "b": [one], "c": [two]])
        try await store.commit([.keep([response("other")], under: "b"), .remove(under: "c"), .keep([one], under: "a")])
        violations += try await self.violations(store, ["a": [one], "b": [response("other")], "c": []])
        try await store.commit([
            .remove(under: "a"), .keep([two], under: "b"), .keep([response("other")], under: "b"),
            .keep([two], under: "c"),
        ])
        violations += try await self.violations(store, ["a": [], "b": [response("other")], "c": [two]])
        try await store.commit([.removeAll, .keep([one], under: "d")])
        violations += try await self.violations(store, ["c": [], "d": [one]])
        return violations
    }

    /// Concurrent calls do not disturb each other.
    private func concurrencyViolations(_ store: any ResponseStore) async throws -> [String] {
        let count = 20
        try await withThrowingTaskGroup { group in
            for number in 0..<count {
                group.addTask {
                    for round in 0..<3 {
                        try await store.commit([
                            .keep([response("\(round)", Data("\(number) \(round)".utf8))], under: "\(number)")
                        ])
                        _ = try await store.responses(for: "\(number + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let kept = (0..<count).map { ("\($0)", [response("2", Data("\($0) 2".utf8))]) }
        return try await violations(store, Dictionary(uniqueKeysWithValues: kept))
    }

    // MARK: Comparing

    private func response(_ metadata: String, _ body: Data = Data("body".utf8)) -> KeptResponse {
        // In a thousand years, so that no store drops it.
        KeptResponse(
            metadata: Data(metadata.utf8),
            body: body,
            expiry: Date(timeIntervalSince1970: 33_000_000_000)
        )
    }

    private func violations(_ store: any ResponseStore, _ kept: [String: [KeptResponse]]) async throws -> [String] {
        var violations: [String] = []
        let later = try await open()
        for (url, expected) in kept {
            for found in [try await store.responses(for: url), try await later.responses(for: url)]
            where found != expected {
                violations.append(
                    """
                    Under \(excerpt(url)), there must be the responses \(expected.map(summary)), but there are \(found.map(summary)).
                    """
                )
            }
        }
        return violations
    }

    private func summary(_ response: KeptResponse) -> String {
        "\(String(decoding: response.metadata, as: UTF8.self)) of \(response.body.count) bytes until \(response.expiry)"
    }

    private func excerpt(_ url: String) -> String { "“\(url.prefix(40))”" }
}
