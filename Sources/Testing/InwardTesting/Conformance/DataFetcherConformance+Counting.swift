import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataFetcherConformance {
    /// Every request is sent, once, and no answer is given to two.
    func countViolations(_ fetcher: any DataFetcher) async -> [String] {
        guard let counting else { return [] }
        var counts: [Int?] = []
        for _ in 0..<4 { counts.append(await count(fetcher)) }
        counts += await withTaskGroup { group in
            for _ in 0..<16 { group.addTask { await count(fetcher) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        counts.append(await count(fetcher))
        let numbers = counts.compactMap(\.self).sorted()
        guard let first = numbers.first, numbers.count == counts.count else {
            return ["\(counting) must be answered with a number, and was not."]
        }
        guard numbers == Array(first..<first + counts.count) else {
            return [
                "\(counting) must be sent once for each of \(counts.count) fetches, and was answered with \(numbers)."
            ]
        }
        return []
    }

    /// A request that fails or writes is also sent once: only the caller knows whether it is safe to retry.
    func repeatViolations(_ fetcher: any DataFetcher) async -> [String] {
        guard let server else { return [] }
        let failing = exchanges.filter { $0.failure != nil || $0.response.status.code >= 400 }
        let writing = exchanges.filter { $0.request.method == .post }.prefix(1)
        var violations: [String] = []
        for request in (failing + writing).map(\.request) {
            let counting = ConformanceUpstream.counting(request, at: server)
            let before = await number(counting, by: fetcher)
            _ = try? await fetcher.fetch(request)
            let after = await number(counting, by: fetcher)
            guard let before, let after else { return ["\(counting) must be answered with a number, and was not."] }
            if after != before + 1 {
                violations.append("\(request) must be sent once, and was sent \(after - before) times.")
            }
        }
        return violations
    }

    /// What cannot be asked is told to be so, by whatever method, and is not sent.
    func impossibilityViolations(_ fetcher: any DataFetcher) async -> [String] {
        guard !impossible.isEmpty else { return ["There must be a request that the fetcher cannot send, and is none."] }
        var violations: [String] = []
        for request in impossible {
            var writing = request
            writing.method = .post
            let before = await count(fetcher)
            violations += await impossibilityViolations(fetcher, request)
            // A body makes a request impossible that reads, and not one that writes.
            if request.method == .get, request.body == nil {
                violations += await impossibilityViolations(fetcher, writing)
            }
            let after = await count(fetcher)
            if let before, let after, after != before + 1 {
                violations.append("\(request) must not be sent, and was.")
            }
        }
        return violations
    }

    private func impossibilityViolations(_ fetcher: any DataFetcher, _ impossible: DataRequest) async -> [String] {
        do {
            let answer = try await fetcher.fetch(impossible)
            return ["\(impossible) cannot be asked, and was answered with \(answer.status)."]
        } catch {
            guard error.reason != .invalidRequest else { return [] }
            return ["\(impossible) must fail as \(FetchError.Reason.invalidRequest), and did as \(error.reason)."]
        }
    }

    /// How often the source says it was asked; `nil` if it says something else.
    func count(_ fetcher: any DataFetcher) async -> Int? {
        guard let counting else { return nil }
        return await number(counting, by: fetcher)
    }

    /// The number that a request is answered with; `nil` if that is something else.
    private func number(_ request: DataRequest, by fetcher: any DataFetcher) async -> Int? {
        guard let answer = try? await fetcher.fetch(request) else { return nil }
        return Int(String(decoding: answer.body, as: UTF8.self))
    }
}
