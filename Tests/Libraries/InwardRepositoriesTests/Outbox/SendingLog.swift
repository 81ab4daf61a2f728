import InwardCore
import InwardFetching
import Synchronization

/// Records when each request was sent.
final class SendingLog: DataFetcher {
    private let base: any DataFetcher
    private let timer: TimerService
    private let times = Mutex<[Duration]>([])

    init(_ base: any DataFetcher, timer: TimerService) {
        self.base = base
        self.timer = timer
    }

    /// The times, rounded to milliseconds, because jitter stays slightly below its maximum.
    var moments: [Duration] {
        times.withLock(\.self).map { .milliseconds(Int(($0 / .milliseconds(1)).rounded())) }
    }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        times.withLock { $0.append(timer.now) }
        return try await base.fetch(request)
    }
}
