public import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check of the requirements for every data fetcher.
///
/// Start a test server that answers as a ``ConformanceUpstream`` specifies, and run the check in a test of any framework:
///
/// ```swift
/// func checkConformance(of fetcher: any DataFetcher, against server: URL) async throws {
///     let impossible = DataRequest(url: URL(filePath: "/"))
///     try await DataFetcherConformance(server: server, impossible: impossible).check(fetcher)
/// }
/// ```
///
/// If the source cannot return prescribed answers, as a directory cannot, pass your own exchanges and list what the source
/// lacks. <doc:ConformanceSuites> shows an example. The check fails if a requirement is neither met nor listed as lacking.
///
/// The check requires that each request is sent once, so do not add retries, hedging or caching to the fetcher.
///
/// A fetcher that reports `honorsDeadlines` must time out at its task's deadline even if it is not cancelled. A fetcher that
/// ignores cancellation can make the check hang, so give the test a time limit.
public struct DataFetcherConformance: Sendable {
    let exchanges: [DataFetcherExchange]
    let unanswered: DataRequest?
    let unfinished: DataRequest?
    let counting: DataRequest?
    let impossible: [DataRequest]
    let lacking: Set<Requirement>
    /// The URL of a server that counts its requests, or `nil` for another source.
    private(set) var server: URL?

    /// Creates a check of a web client against a server that answers as a ``ConformanceUpstream`` does.
    ///
    /// - Parameters:
    ///   - server: The base URL of the server.
    ///   - impossible: A request that the fetcher cannot send, such as one with an unknown URL scheme. The check also tries
    ///     requests that no web client may send.
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

    /// Creates a check against another source.
    ///
    /// - Parameters:
    ///   - exchanges: Requests whose responses never change. ``Requirement`` lists what they must include.
    ///   - unanswered: A request that the source accepts but never answers.
    ///   - unfinished: A request whose response begins but never ends.
    ///   - counting: A request that is answered with the number of times it was made, as decimal digits: `1` the first time,
    ///     then `2`.
    ///   - impossible: Requests that the fetcher cannot send, such as one with an unknown URL scheme.
    ///   - lacking: The requirements that the source cannot meet, which the check skips.
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
    ///   - fetcher: The fetcher to check.
    ///   - timer: The timer service for delays before cancellations and for deadlines. On a wall clock, the check waits about
    ///     200 milliseconds, and 10 seconds more for each request that does not end at its deadline.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
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

    /// `HEAD` is answered like `GET`, without the body.
    private func headViolations(_ fetcher: any DataFetcher) async -> [String] {
        let exchange = exchanges.first { exchange in
            // An error response may depend on the method.
            exchange.failure == nil && exchange.request.method == .get && exchange.response.status.isSuccess
        }
        guard var exchange else { return [] }
        exchange.request.method = .head
        exchange.response.body.removeAll()
        return await outcome(of: exchange, by: fetcher)
    }

    /// Concurrent requests each get their own response.
    private func concurrencyViolations(_ fetcher: any DataFetcher) async -> [String] {
        await withTaskGroup { group in
            for _ in 0..<16 {
                for exchange in exchanges {
                    group.addTask { await outcome(of: exchange, by: fetcher) }
                }
            }
            return Set(await group.reduce(into: []) { $0 += $1 }).map { "Concurrently: \($0)" }.sorted()
        }
    }
}

/// An error that lists how an implementation violates the contract of its port.
///
/// ```swift
/// func recordViolations(of conformance: DataFetcherConformance, by fetcher: any DataFetcher) async {
///     do {
///         try await conformance.check(fetcher)
///     } catch {
///         for violation in error.violations { Issue.record("\(violation)") }
///     }
/// }
/// ```
public struct ConformanceFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The violations, each as a complete sentence.
    public let violations: [String]

    /// The violations, one per line.
    public var description: String { violations.joined(separator: "\n") }
}

extension DataFetcherConformance {
    /// Each request is sent once, and no response is shared by two requests.
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
            return ["\(counting) must return a number, but did not."]
        }
        guard numbers == Array(first..<first + counts.count) else {
            return [
                "\(counting) must be sent once for each of \(counts.count) fetches, but returned the counts \(numbers)."
            ]
        }
        return []
    }

    /// Requests that fail or write are also sent once, because only the caller knows whether a retry is safe.
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
            guard let before, let after else { return ["\(counting) must return a number, but did not."] }
            if after != before + 1 {
                violations.append("\(request) must be sent once, but was sent \(after - before) times.")
            }
        }
        return violations
    }

    /// An impossible request fails as invalid with any method, and is not sent.
    func impossibilityViolations(_ fetcher: any DataFetcher) async -> [String] {
        guard !impossible.isEmpty else { return ["Pass a request that the fetcher cannot send as `impossible`."] }
        var violations: [String] = []
        for request in impossible {
            var writing = request
            writing.method = .post
            let before = await count(fetcher)
            violations += await impossibilityViolations(fetcher, request)
            // A body makes a `GET` request impossible, but not a `POST` request.
            if request.method == .get, request.body == nil {
                violations += await impossibilityViolations(fetcher, writing)
            }
            let after = await count(fetcher)
            if let before, let after, after != before + 1 {
                violations.append("\(request) must not be sent, but was.")
            }
        }
        return violations
    }

    private func impossibilityViolations(_ fetcher: any DataFetcher, _ impossible: DataRequest) async -> [String] {
        do {
            let answer = try await fetcher.fetch(impossible)
            return ["\(impossible) must be refused, but returned \(answer.status)."]
        } catch {
            guard error.reason != .invalidRequest else { return [] }
            return ["\(impossible) must fail as \(FetchError.Reason.invalidRequest), but failed as \(error.reason)."]
        }
    }

    /// Returns the request count that the source reports, or `nil` for any other answer.
    func count(_ fetcher: any DataFetcher) async -> Int? {
        guard let counting else { return nil }
        return await number(counting, by: fetcher)
    }

    /// Returns the number in the response to a request, or `nil` for any other answer.
    private func number(_ request: DataRequest, by fetcher: any DataFetcher) async -> Int? {
        guard let answer = try? await fetcher.fetch(request) else { return nil }
        return Int(String(decoding: answer.body, as: UTF8.self))
    }
}
