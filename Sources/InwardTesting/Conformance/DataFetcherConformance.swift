public import InterfaceAdapters
public import UseCases

/// What every data fetcher must do, as a check to run on an implementation.
///
/// Tell it what the source behind the fetcher answers, and run it from a test of any framework:
///
///     let conformance = DataFetcherConformance(
///         exchanges: [
///             DataFetcherExchange(
///                 DataRequest(url: base.appending(path: "small")),
///                 DataResponse(headerFields: [HeaderField(.contentType, "text/plain")], body: small)
///             ),
///             DataFetcherExchange(DataRequest(url: base.appending(path: "large")), DataResponse(body: large)),
///             DataFetcherExchange(DataRequest(url: base.appending(path: "missing")), DataResponse(status: .notFound)),
///         ],
///         unanswered: DataRequest(url: base.appending(path: "silence")),
///         impossible: DataRequest(url: elsewhere)
///     )
///     try await conformance.check(MyDataFetcher())
///
/// A fetcher that says it `honorsDeadlines` must end as timed out at the deadline of its task, though nobody cancels
/// it. It waits for a fetcher that ignores cancellation for as long as the fetcher does: give the test a time limit.
public struct DataFetcherConformance: Sendable {
    let exchanges: [DataFetcherExchange]
    let unanswered: DataRequest?
    private let impossible: DataRequest

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - exchanges: What the source answers, always the same. Among them an answer of success and another one, an answer
    ///     with a header field, and a body of at least 16 KiB.
    ///   - unanswered: What the source takes and never answers; `nil` if it answers everything at once.
    ///   - impossible: What the fetcher cannot ask its source, such as an address of an unknown scheme.
    public init(exchanges: [DataFetcherExchange], unanswered: DataRequest?, impossible: DataRequest) {
        self.exchanges = exchanges
        self.unanswered = unanswered
        self.impossible = impossible
    }

    /// Checks a fetcher.
    ///
    /// - Parameters:
    ///   - fetcher: What is checked.
    ///   - timer: What tells the time to a fetcher that says it honors deadlines. By the clock of the wall that takes 50
    ///     milliseconds, and 10 seconds more if it does not.
    /// - Throws: a ``ConformanceFailure`` that tells everything the fetcher does wrong.
    public func check(
        _ fetcher: any DataFetcher,
        timer: TimerService = .continuous
    ) async throws(ConformanceFailure) {
        var violations = missingExchanges
        for exchange in exchanges {
            violations += await outcome(of: exchange, by: fetcher)
        }
        violations += await headViolations(fetcher)
        violations += await concurrencyViolations(fetcher)
        violations += await cancellationViolations(fetcher)
        violations += await deadlineViolations(fetcher, timer)
        violations += await impossibilityViolations(fetcher)
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// What the check cannot be complete without.
    private var missingExchanges: [String] {
        let answers = exchanges.map(\.response)
        let present = [
            "an answer of success": answers.contains { $0.status.isSuccess },
            "an answer of another status": answers.contains { !$0.status.isSuccess },
            "an answer with a header field": answers.contains { !$0.headerFields.isEmpty },
            "a body of at least 16 KiB": answers.contains { $0.body.count >= 16 * 1_024 },
        ]
        return present.filter { !$0.value }.keys.sorted().map { "The exchanges must have \($0), and have none." }
    }

    private func outcome(of exchange: DataFetcherExchange, by fetcher: any DataFetcher) async -> [String] {
        do {
            return exchange.violations(of: try await fetcher.fetch(exchange.request))
        } catch {
            return ["\(exchange.request) must be answered with \(exchange.response.status), and failed: \(error)."]
        }
    }

    /// `HEAD` is answered as `GET` is, without the body.
    private func headViolations(_ fetcher: any DataFetcher) async -> [String] {
        guard var exchange = exchanges.first(where: { $0.request.method == .get && $0.response.status.isSuccess })
        else {
            return []
        }
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

    /// A cancelled task gets no answer, whether it was cancelled before or while it waited.
    private func cancellationViolations(_ fetcher: any DataFetcher) async -> [String] {
        var violations: [String] = []
        for exchange in exchanges {
            // Where the source answers, no more than a cancellation beforehand has one outcome alone.
            violations += await cancellationViolations(fetcher, exchange.request, delays: 0...0)
        }
        if let unanswered { violations += await cancellationViolations(fetcher, unanswered, delays: 0...20) }
        return violations
    }

    private func cancellationViolations(
        _ fetcher: any DataFetcher,
        _ request: DataRequest,
        delays: ClosedRange<Int>
    ) async -> [String] {
        var reasons: Set<FetchError.Reason?> = []
        for delay in delays {
            await withTaskGroup { group in
                group.addTask {
                    // The first of them waits until it is cancelled.
                    if delay == 0 { while !Task.isCancelled { await Task.yield() } }
                    do throws(FetchError) {
                        _ = try await fetcher.fetch(request)
                        return FetchError.Reason?.none
                    } catch {
                        return error.reason
                    }
                }
                for _ in 0..<delay * delay { await Task.yield() }
                group.cancelAll()
                for await reason in group { reasons.insert(reason) }
            }
        }
        return reasons.subtracting([.cancelled]).map { reason in
            let ending = reason.map { "failed as \($0)" } ?? "was answered"
            return "\(request) must end as cancelled when its task is, and \(ending)."
        }.sorted()
    }

    /// What cannot be asked is told to be so, by whatever method.
    private func impossibilityViolations(_ fetcher: any DataFetcher) async -> [String] {
        var writing = impossible
        writing.method = .post
        return await impossibilityViolations(fetcher, impossible) + impossibilityViolations(fetcher, writing)
    }

    private func impossibilityViolations(_ fetcher: any DataFetcher, _ impossible: DataRequest) async -> [String] {
        do throws(FetchError) {
            let answer = try await fetcher.fetch(impossible)
            return ["\(impossible) cannot be asked, and was answered with \(answer.status)."]
        } catch {
            guard error.reason != .invalidRequest else { return [] }
            return ["\(impossible) must fail as \(FetchError.Reason.invalidRequest), and did as \(error.reason)."]
        }
    }
}
