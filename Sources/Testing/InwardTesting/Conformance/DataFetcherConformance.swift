public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What every data fetcher must do, as a check to run on an implementation.
///
/// Let a test server answer as a ``ConformanceUpstream`` says, and run the check from a test of any framework:
///
///     let upstream = ConformanceUpstream()
///     try await MyServer.serving({ request in MyAnswer(upstream.answer(to: request)) }) { server in
///         let conformance = DataFetcherConformance(server: server.url, impossible: DataRequest(url: URL(filePath: "/")))
///         try await conformance.check(MyDataFetcher())
///     }
///
/// A fetcher whose source cannot be told what to answer, such as a directory, names exchanges of its own, and what the source
/// lacks. <doc:InwardTesting> shows a setup for it.
///
/// Each request must be sent once, so check a fetcher without retries, hedging or a cache around it.
///
/// The check fails where something is missing that it needs and that the source is not said to lack.
///
/// A fetcher that says it `honorsDeadlines` must end as timed out at the deadline of its task, though nobody cancels
/// it. It waits for a fetcher that ignores cancellation for as long as the fetcher does: give the test a time limit.
public struct DataFetcherConformance: Sendable {
    let exchanges: [DataFetcherExchange]
    let unanswered: DataRequest?
    let unfinished: DataRequest?
    let counting: DataRequest?
    let impossible: [DataRequest]
    let lacking: Set<Requirement>
    /// The address of a server that counts what it is asked; `nil` for another source.
    private(set) var server: URL?

    /// Makes a check of a web client against a server that answers as a ``ConformanceUpstream`` does.
    ///
    /// - Parameters:
    ///   - server: The address below which it answers.
    ///   - impossible: What the fetcher cannot ask its source, such as an address of an unknown scheme. What no web client may send
    ///     is checked beside it.
    public init(server: URL, impossible: DataRequest) {
        self.init(
            exchanges: ConformanceUpstream.exchanges(at: server),
            unanswered: DataRequest(url: server.appending(path: "silence")),
            unfinished: DataRequest(url: server.appending(path: "unfinished")),
            counting: DataRequest(url: server.appending(path: "count")),
            impossible: [impossible] + ConformanceUpstream.impossibleRequests(at: server)
        )
        self.server = server
    }

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - exchanges: What the source answers, always the same. ``Requirement`` lists what must be among them.
    ///   - unanswered: What the source takes and never answers.
    ///   - unfinished: What the source begins to answer, and never ends.
    ///   - counting: What the source answers with how often it was asked just this, as decimal digits: `1` the first time, `2` then.
    ///   - impossible: What the fetcher cannot ask its source, such as an address of an unknown scheme.
    ///   - lacking: What the source cannot do, and the check therefore leaves out.
    public init(
        exchanges: [DataFetcherExchange],
        unanswered: DataRequest? = nil,
        unfinished: DataRequest? = nil,
        counting: DataRequest? = nil,
        impossible: [DataRequest],
        lacking: Set<Requirement> = []
    ) {
        self.exchanges = exchanges
        self.unanswered = unanswered
        self.unfinished = unfinished
        self.counting = counting
        self.impossible = impossible
        self.lacking = lacking
    }

    /// Checks a fetcher.
    ///
    /// - Parameters:
    ///   - fetcher: What is checked.
    ///   - timer: What tells the time to a fetcher that says it honors deadlines. On a wall clock that takes 200
    ///     milliseconds, and 10 seconds more if it does not.
    /// - Throws: a ``ConformanceFailure`` that tells everything the fetcher does wrong.
    public func check(
        _ fetcher: any DataFetcher,
        timer: TimerService = .continuous
    ) async throws(ConformanceFailure) {
        var violations = missingRequirements
        for exchange in exchanges {
            violations += await outcome(of: exchange, by: fetcher)
        }
        violations += await headViolations(fetcher)
        violations += await concurrencyViolations(fetcher)
        violations += await countViolations(fetcher)
        violations += await repeatViolations(fetcher)
        violations += await cancellationViolations(fetcher, timer)
        violations += await deadlineViolations(fetcher, timer)
        violations += await impossibilityViolations(fetcher)
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    private func outcome(of exchange: DataFetcherExchange, by fetcher: any DataFetcher) async -> [String] {
        do {
            return exchange.violations(of: .success(try await fetcher.fetch(exchange.request)))
        } catch {
            return exchange.violations(of: .failure(error))
        }
    }

    /// `HEAD` is answered as `GET` is, without the body.
    private func headViolations(_ fetcher: any DataFetcher) async -> [String] {
        let exchange = exchanges.first { exchange in
            // An answer that depends on the method would be another one.
            exchange.failure == nil && exchange.request.method == .get && exchange.response.status.isSuccess
        }
        guard var exchange else { return [] }
        exchange.request.method = .head
        exchange.response.body.removeAll()
        return await outcome(of: exchange, by: fetcher)
    }

    /// Many requests at once each get their own answer.
    private func concurrencyViolations(_ fetcher: any DataFetcher) async -> [String] {
        await withTaskGroup { group in
            for _ in 0..<16 {
                for exchange in exchanges {
                    group.addTask { await outcome(of: exchange, by: fetcher) }
                }
            }
            return Set(await group.reduce(into: []) { $0 += $1 }).map { "Many at once: \($0)" }.sorted()
        }
    }
}

/// What an implementation of a port does that the port does not allow.
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Each violation, as a whole sentence.
    public let violations: [String]

    /// The violations, one a line.
    public var description: String { violations.joined(separator: "\n") }
}

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
