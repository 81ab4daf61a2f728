import Foundation
import InwardCore
import InwardFetching
import InwardRepositories
import InwardTesting

/// A client that makes one request after the other, and cancels some of them.
struct Client: Sendable {
    /// The number of addresses on each host.
    private static let addresses = 400

    let fetchers: [[any DataFetcher]]
    let upstream: Upstream
    let ledger: Ledger
    let findings: Findings
    let timer: TimerService

    /// Runs until a moment.
    func run(until end: Duration, seed: UInt64) async {
        var random = SplitMix64(seed: seed)
        while timer.now < end {
            await ask(&random)
            try? await timer.sleep(for: .milliseconds(Int.random(in: upstream.phase.pause, using: &random)))
        }
    }

    private func ask(_ random: inout SplitMix64) async {
        let request = Self.request(&random)
        let kind = Int.random(in: fetchers.indices, using: &random)
        let isPatient = Int.random(in: 0..<100, using: &random) < 75
        let limit = isPatient ? 0 : Int.random(in: 1..<Pipelines.limits.count, using: &random)
        let patience = Int.random(in: 0..<100, using: &random) < 15 ? Int.random(in: 0...30, using: &random) : nil
        let fetcher = fetchers[kind][limit]
        // The request may be sent twice, the second time with other credentials.
        var allowed = Pipelines.limits[limit] ?? Pipelines.totalLimit * 2
        if let patience { allowed = min(allowed, .milliseconds(patience)) }
        let number = ledger.begin(at: timer.now, allowed: allowed)
        let result = await result(of: request, from: fetcher, cancelledAfter: patience)
        check(result, of: request, isCancelled: patience != nil)
        if !ledger.end(number, Self.outcome(result), at: timer.now) { findings.add("A request has ended twice.") }
    }

    private func result(
        of request: DataRequest,
        from fetcher: any DataFetcher,
        cancelledAfter patience: Int?
    ) async -> Result<DataResponse, FetchError> {
        guard let patience else { return await Self.result(of: request, from: fetcher) }
        return await withTaskGroup(of: Result<DataResponse, FetchError>?.self) { group in
            group.addTask { await Self.result(of: request, from: fetcher) }
            group.addTask { [timer] in
                try? await timer.sleep(for: .milliseconds(patience))
                return nil
            }
            var result: Result<DataResponse, FetchError>?
            for await ended in group {
                group.cancelAll()
                result = result ?? ended
            }
            return result ?? .failure(FetchError(.invalidRequest, request: request, explanation: "was not answered"))
        }
    }

    private func check(_ result: Result<DataResponse, FetchError>, of request: DataRequest, isCancelled: Bool) {
        switch result {
        case .success(let response):
            guard response.status == .ok, response.fallbackReason == nil else { return }
            if response.headerFields[EchoingDataFetcher.path] != request.url.path {
                findings.add("A request got the response to another one.")
            }
        case .failure(let error):
            if error.reason == .cancelled, !isCancelled {
                findings.add("A request was cancelled although its client did not cancel it.")
            }
            if error.reason == .invalidRequest { findings.add("A request was not answered.") }
        }
    }

    private static func request(_ random: inout SplitMix64) -> DataRequest {
        // A few addresses are requested by many clients.
        let isPopular = Bool.random(using: &random)
        let number = Int.random(in: 1...(isPopular ? 20 : addresses), using: &random)
        let host = Int.random(in: 0..<10, using: &random) == 0 ? "other.test" : EchoingDataFetcher.guarded
        var request = DataRequest(url: URL(string: "http://\(host)/things/\(number)") ?? URL(filePath: "/"))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<2: request.method = .post
        case 2..<7: request.method = .head
        case 7..<30: request.headerFields[.cacheControl] = "no-cache"
        default: break
        }
        return request
    }

    static func result(of request: DataRequest, from fetcher: any DataFetcher) async -> Result<DataResponse, FetchError>
    {
        do throws(FetchError) {
            return .success(try await fetcher.fetch(request))
        } catch {
            return .failure(error)
        }
    }

    private static func outcome(_ result: Result<DataResponse, FetchError>) -> String {
        switch result {
        case .success(let response):
            if response.fallbackReason != nil { return "answered by a fallback" }
            return "\(response.status.code) from \(response.origin)"
        case .failure(let error): return "\(error.reason)"
        }
    }
}
