import InwardTesting
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Properties of RFC 9111 that hold for all requests and responses. Each test prints its seed if it fails.
struct RFC9111PropertyTests {
    /// An upstream whose responses say what they are for: the owner, the selecting fields and the time of their creation.
    private final class Upstream: DataFetcher {
        private let owner: String
        private let clock: ManualClock
        private let random: Mutex<SplitMix64>

        init(owner: String, clock: ManualClock, seed: UInt64) {
            self.owner = owner
            self.clock = clock
            random = Mutex(SplitMix64(seed: seed))
        }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            let (delay, residence, directives) = random.withLock { random in
                (
                    Int.random(in: 0...1, using: &random), Int.random(in: 0...4, using: &random),
                    RFC9111PropertyTests.directives.randomElement(using: &random) ?? ""
                )
            }
            clock.advance(by: .seconds(delay))
            let now = Int(clock.now.offset.components.seconds)
            let names = RFC9111PropertyTests.selecting(request.url.path)
            let text = RFC9111PropertyTests.description(of: request, names, owner: owner)
            let tag = "\"\(text)\""
            var fields = HeaderFields(lines: [
                "Cache-Control: \(directives)", "ETag: \(tag)", "X-Created: \(now - residence)", "Age: \(residence)",
            ])
            if !names.isEmpty { fields[.vary] = names.joined(separator: ", ") }
            clock.advance(by: .seconds(delay))
            if request.headerFields[.ifNoneMatch]?.contains(tag) == true {
                return DataResponse(status: .notModified, headerFields: fields)
            }
            return DataResponse(headerFields: fields, body: Data(text.utf8))
        }
    }

    private static let directives = [
        "max-age=5", "max-age=20", "max-age=20, no-store", "max-age=20, private", "max-age=20, no-cache",
        "s-maxage=10, max-age=5", "max-age=100, public", "max-age=0", "no-store", "max-age=20, must-revalidate",
    ]

    /// Returns the fields that responses for a path depend on.
    private static func selecting(_ path: String) -> [String] {
        ["/none": [], "/a": ["X-A"], "/b": ["X-B"], "/ab": ["X-B", "X-A"], "/star": ["*"]][path] ?? []
    }

    private static func description(of request: DataRequest, _ names: [String], owner: String) -> String {
        let values = names.map { "\($0)=\(request[$0] ?? "none")" }
        return ([owner, request.url.path] + values).joined(separator: ";")
    }

    @Test(arguments: CachePolicy.both)
    func reusedResponsesFitTheRequestAndAreNeverOlderThanTheySay(policy: CachePolicy) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let clock = ManualClock()
        let cache = ResponseCache(byteLimit: 20_000, clock: clock) { Date(timeIntervalSince1970: 784_108_800) }
        let fetchers = ["ada", "charles"].map { owner in
            (owner, Upstream(owner: owner, clock: clock, seed: random.next()).caching(in: cache.makePartition(policy)))
        }
        var reusedCount = 0
        for _ in 0..<1_500 {
            let (owner, fetcher) = fetchers[Int.random(in: 0...1, using: &random)]
            let path = ["none", "a", "b", "ab", "star"][Int.random(in: 0...4, using: &random)]
            var request = try DataRequest.example("http://upstream.test/\(path)")
            for name in ["X-A", "X-B"] {
                guard let value = [nil, "1", "2"][Int.random(in: 0...2, using: &random)] else { continue }
                request.headerFields.append(HeaderField(try #require(HeaderField.Name(name)), value))
            }
            let isAuthorized = Int.random(in: 0...4, using: &random) == 0
            if isAuthorized { request.headerFields[.authorization] = "Bearer a" }
            let answer = try await fetcher.fetch(request)
            let names = Self.selecting("/\(path)")
            // Whether it is new, confirmed or reused.
            #expect(answer.text == Self.description(of: request, names, owner: owner), "The seed was \(seed).")
            if answer.isReused {
                reusedCount += 1
                let created = try #require(answer["X-Created"].flatMap { Int($0) })
                let age = try #require(answer.headerFields[.age].flatMap { Int($0) })
                let now = Int(clock.now.offset.components.seconds)
                #expect(age >= now - created, "The seed was \(seed).")
                let directives = CacheDirectives(answer.headerFields)
                #expect(!directives.noStore && !directives.noCache, "The seed was \(seed).")
                #expect(!policy.isShared || !directives.isPrivate, "The seed was \(seed).")
                let shared = policy.isShared ? directives.sharedMaxAge : nil
                #expect(.seconds(age) < shared ?? directives.maxAge ?? .zero, "The seed was \(seed).")
                #expect(path != "star", "The seed was \(seed).")
            }
            if Int.random(in: 0...3, using: &random) == 0 { clock.advance(by: .seconds(1)) }
        }
        #expect(reusedCount > 100, "The seed was \(seed).")
    }

    @Test func freshnessIsNeverNegativeAndAgeNeverLessThanTheTrueOne() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let now = Date(timeIntervalSince1970: 784_108_800)
        for _ in 0..<(Thoroughness.isExhaustive ? 5_000 : 1_000) {
            let sent = Duration.seconds(Int.random(in: 0...1_000, using: &random))
            let delay = Duration.milliseconds(Int.random(in: 0...20_000, using: &random))
            var response = DataResponse(status: [200, 302, 404].randomElement(using: &random) ?? 200)
            var fields: [String] = []
            for name in ["Date", "Expires", "Last-Modified"] where Bool.random(using: &random) {
                let offset = Double(Int64.random(in: -100_000...100_000, using: &random))
                let isWild = Int.random(in: 0...9, using: &random) == 0
                fields.append("\(name): \(now.addingTimeInterval(isWild ? offset * 1e5 : offset).httpDate)")
            }
            let numbers = ["0", "60", "-60", "x", "99999999999999999999", "2147483648", "\"5\"", ""]
            let age = numbers.randomElement(using: &random) ?? ""
            if Bool.random(using: &random) { fields.append("Age: \(age)") }
            for name in ["max-age", "s-maxage"] where Bool.random(using: &random) {
                fields.append("Cache-Control: \(name)=\(numbers.randomElement(using: &random) ?? "")")
            }
            response.headerFields = HeaderFields(lines: fields)
            let policy: CachePolicy = Bool.random(using: &random) ? .private : .shared
            let freshness = ResponseFreshness(
                of: response,
                directives: ResponseDirectives(response.headerFields, for: policy),
                sent: CacheMoment(uptime: sent, date: now),
                arrival: CacheMoment(uptime: sent + delay, date: now),
                policy: policy
            )
            let stated = response.headerFields.ageValue ?? .zero
            let residence = Duration.milliseconds(Int.random(in: 0...100_000, using: &random))
            let context = "\(fields), the seed was \(seed)."
            #expect(freshness.lifetime >= .zero && freshness.lifetime <= policy.maximumLifetime, "\(context)")
            #expect(freshness.age(at: sent + delay + residence) >= stated + delay + residence, "\(context)")
            // Time never makes a response younger.
            #expect(freshness.age(at: sent + delay) <= freshness.age(at: sent + delay + residence), "\(context)")
        }
    }
}
