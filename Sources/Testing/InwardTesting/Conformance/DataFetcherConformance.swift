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
