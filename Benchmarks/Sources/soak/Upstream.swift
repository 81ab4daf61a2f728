import InwardCore
import InwardFetching
import InwardTesting
import Synchronization

/// The upstream of all pipelines: chaos with a different plan in each phase.
final class Upstream: DataFetcher {
    private let fetchers: [LoadPhase: ChaosDataFetcher]
    private let current = Atomic(LoadPhase.faults)
    private let requestsUnderWay = Atomic(0)

    init(_ base: any DataFetcher, seed: UInt64, timer: TimerService) {
        var seeds = SplitMix64(seed: seed)
        let pairs = LoadPhase.allCases.map {
            ($0, ChaosDataFetcher(base, plan: $0.plan, seed: seeds.next(), timer: timer))
        }
        fetchers = Dictionary(uniqueKeysWithValues: pairs)
    }

    /// The current phase.
    var phase: LoadPhase {
        get { current.load(ordering: .relaxed) }
        set { current.store(newValue, ordering: .relaxed) }
    }

    /// The number of requests that are not answered yet.
    var underWay: Int { requestsUnderWay.load(ordering: .relaxed) }

    /// The counts so far, by phase.
    var counts: [(phase: LoadPhase, counts: ChaosCounts)] {
        LoadPhase.allCases.compactMap { phase in fetchers[phase].map { (phase, $0.counts) } }
    }

    var honorsDeadlines: Bool { true }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        requestsUnderWay.add(1, ordering: .relaxed)
        defer { requestsUnderWay.subtract(1, ordering: .relaxed) }
        guard let fetcher = fetchers[phase] else { return DataResponse(status: 501) }
        return try await fetcher.fetch(request)
    }
}
