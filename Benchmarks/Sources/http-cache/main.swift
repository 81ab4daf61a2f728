import Comparing
import FoundationEssentials
import InwardFetching
import Measuring
import Synchronization

/// A data fetcher that answers from memory with a response of 30 KB.
struct PageDataFetcher: DataFetcher {
    let response: DataResponse
    let honorsDeadlines = true

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { response }
}

/// Returns the fields of a usual response.
func fields(varying: String?) -> HeaderFields {
    var fields: HeaderFields = [
        HeaderField(.contentType, "text/html; charset=utf-8"), HeaderField(.contentLength, "30000"),
        HeaderField(.cacheControl, "public, max-age=31536000"),
        HeaderField(.etag, "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
        HeaderField(.lastModified, "Tue, 24 Nov 2026 10:00:00 GMT"),
        HeaderField(.date, "Thu, 26 Nov 2026 10:00:00 GMT"),
    ]
    fields[.vary] = varying
    return fields
}

/// Returns a request with the fields that browsers send.
func request(_ number: Int) -> DataRequest {
    DataRequest(
        url: URL(string: "https://shop.example.org/products/\(number)?color=red") ?? URL(filePath: "/"),
        headerFields: [
            HeaderField(.accept, "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"),
            HeaderField(.acceptEncoding, "gzip, deflate, br"), HeaderField(.acceptLanguage, "en-US,en;q=0.5"),
        ]
    )
}

/// A clock on which a second passes between two readings.
struct SteppingClock: Clock {
    private let seconds = Box()

    private final class Box: Sendable {
        let count = Atomic(0)
    }

    var now: ContinuousClock.Instant {
        Self.start + .seconds(seconds.count.add(1, ordering: .relaxed).newValue)
    }
    var minimumResolution: Duration { .seconds(1) }
    private static let start = ContinuousClock.now

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}

/// Prints what the check of an address costs.
func measureGuard() async {
    func cost(_ host: String) async -> Measurement {
        let checks = AddressGuard(.publicInternet)
        let request = DataRequest(url: URL(string: "https://\(host)/products/1?color=red") ?? URL(filePath: "/"))
        return await Measurement { try? checks.check(request) }
    }
    var table = CostTable(base: await Measurement {})
    table.add("guard, IPv4 address", atMost: 300, await cost("93.184.216.34"))
    table.add("guard, IPv6 address", atMost: 300, await cost("[2606:2800:220:1:248:1893:25c8:1946]"))
    print(table)
}

/// Prints what it costs to decide whether a response is stored and how long it is fresh.
func measureStorability() async {
    let response = DataResponse(headerFields: fields(varying: "Accept-Encoding"), body: Data(count: 30_000))
    let (request, date) = (request(1), Date(timeIntervalSince1970: 1_795_687_200))
    func cost(_ policy: CachePolicy) async -> Measurement {
        await Measurement { _ = policy.remainingLifetime(of: response, to: request, arrivedAt: date) }
    }
    var table = CostTable(base: await Measurement {})
    table.add("storability and freshness, shared", atMost: 400, await cost(.shared))
    table.add("storability and freshness, private", atMost: 400, await cost(.private))
    print(table)
}

/// Prints what a hit costs, and how two threads share the cache.
@concurrent func measure() async throws {
    let body = Data(repeating: 0x61, count: 30_000)
    func cached(
        varying: String?,
        _ policy: CachePolicy,
        clock: some Clock<Duration> = ContinuousClock()
    ) -> any DataFetcher {
        let cache = ResponseCache(byteLimit: 256 * 1_024 * 1_024, clock: clock) {
            Date(timeIntervalSince1970: 1_795_687_200)
        }
        return PageDataFetcher(response: DataResponse(headerFields: fields(varying: varying), body: body))
            .caching(in: cache.makePartition(policy))
    }
    func cost(_ fetcher: any DataFetcher, _ request: DataRequest) async -> Measurement {
        await Task { await Measurement { _ = try? await fetcher.fetch(request) } }.value
    }
    let bare: any DataFetcher = PageDataFetcher(response: DataResponse(headerFields: fields(varying: nil), body: body))
    var table = CostTable(base: await cost(bare, request(1)))
    table.add("hit, shared", atMost: 700, await cost(cached(varying: nil, .shared), request(1)))
    table.add("hit, private", atMost: 700, await cost(cached(varying: nil, .private), request(1)))
    table.add("hit, varying", atMost: nil, await cost(cached(varying: "Accept-Encoding", .shared), request(1)))
    // The cache makes the fields of a hit once a second.
    let stepping = cached(varying: nil, .shared, clock: SteppingClock())
    table.add("hit, first in its second", atMost: 700, await cost(stepping, request(1)))
    print(table)

    let shared = cached(varying: nil, .shared)
    let requests = (0..<64).map(request)
    for request in requests { _ = try await shared.fetch(request) }
    func compare(_ title: String, _ read: @escaping @Sendable () async throws -> Void) async throws {
        var ratios: [Double] = []
        for _ in 0..<7 {
            let one = try await Throughput(inFlight: 1, for: .milliseconds(500), read)
            let two = try await Throughput(inFlight: 2, for: .milliseconds(500), read)
            ratios.append(two.callsPerSecond / one.callsPerSecond)
        }
        print("Two tasks read \(ratios.median) times as much as one, \(title).")
    }
    try await compare("the same responses at the same time") {
        for request in requests { _ = try await shared.fetch(request) }
    }
    let starts = Counter()
    try await compare("from different places on") {
        let start = starts.next()
        for index in requests.indices { _ = try await shared.fetch(requests[(start + index) % requests.count]) }
    }
}

/// Numbers that are far apart, for tasks that begin at different places.
final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(29, ordering: .relaxed).newValue }
}

try await measure()
await measureStorability()
await measureGuard()
