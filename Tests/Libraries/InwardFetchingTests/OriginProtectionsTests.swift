import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct OriginProtectionsTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let client = RecordingDataFetcher(
        StubDataFetcher { request throws(FetchError) in
            guard request.url.host()?.hasPrefix("dead") != true else {
                throw FetchError(.unreachable, request: request, explanation: "is dead")
            }
            return DataResponse()
        }
    )

    init() { timer = TimerService(clock) }

    private func origins(_ policy: UpstreamPolicy? = nil, atMost limit: Int = 256) throws -> OriginProtections {
        try OriginProtections("images", by: policy ?? UpstreamPolicy(attempts: 1), atMost: limit, timer: timer)
    }

    private func protection(_ origins: OriginProtections, of address: String) throws -> UpstreamProtection? {
        origins.protection(of: try DataRequest.example(address).url)
    }

    private func kill(_ host: String, with fetcher: any DataFetcher) async throws {
        for number in 0..<10 { _ = await fetcher.reason(try .example("http://\(host)/\(number)")) }
    }

    @Test func deadHostOpensOnlyItsOwnCircuit() async throws {
        let origins = try origins()
        let images = client.protecting(by: origins)
        let api = UpstreamProtection("api", by: try UpstreamPolicy(attempts: 1), timer: timer)
        try await kill("dead.test", with: images)
        let dead = try protection(origins, of: "http://dead.test/")
        #expect(dead?.circuitBreaker.state == .open(remaining: .seconds(10)))
        #expect(await images.reason(try .example("http://dead.test/a")) == .rejected)
        // Another port or another host is another origin.
        #expect(await images.reason(try .example("http://dead.test:81/a")) == .unreachable)
        #expect(try await images.fetch(.example("http://live.test/a")).status == .ok)
        #expect(try await client.protecting(by: api).fetch(.example("http://live.test/users")).status == .ok)
        #expect(api.circuitBreaker.state == .closed)
    }

    @Test func originsDoNotSharePermits() async throws {
        let (isAsked, isReleased) = (Promise<Void>(), Promise<Void>())
        let slow = StubDataFetcher { request throws(FetchError) in
            guard request.url.host() == "slow.test" else { return DataResponse() }
            isAsked.fulfill(())
            _ = await isReleased.value()
            return DataResponse()
        }
        let images = slow.protecting(by: try origins(UpstreamPolicy(attempts: 1, concurrency: 1, queue: 0)))
        async let first = images.fetch(.example("http://slow.test/a"))
        _ = await isAsked.value()
        #expect(await images.reason(try .example("http://slow.test/b")) == .rejected)
        #expect(try await images.fetch(.example("http://other.test/b")).status == .ok)
        isReleased.fulfill(())
        #expect(try await first.status == .ok)
    }

    @Test func unusedOriginsAreForgotten() async throws {
        let origins = try origins(atMost: 2)
        let images = client.protecting(by: origins)
        for host in ["a", "b", "a", "c"] { _ = try await images.fetch(.example("http://\(host).test/")) }
        #expect(origins.count == 2)
        #expect(try protection(origins, of: "http://b.test/") == nil)
        #expect(try protection(origins, of: "http://a.test/x") != nil)
        for number in 0..<1_000 { _ = try await images.fetch(.example("http://\(number).test/")) }
        #expect(origins.count == 2)
    }

    @Test func originInUseIsNotForgotten() async throws {
        let (isAsked, isReleased) = (Promise<Void>(), Promise<Void>())
        let slow = StubDataFetcher { request throws(FetchError) in
            guard request.url.host() == "slow.test" else { return DataResponse() }
            isAsked.fulfill(())
            _ = await isReleased.value()
            return DataResponse()
        }
        let origins = try origins(atMost: 1)
        let images = slow.protecting(by: origins)
        async let first = images.fetch(.example("http://slow.test/a"))
        _ = await isAsked.value()
        for host in ["b", "c", "d"] { _ = try await images.fetch(.example("http://\(host).test/")) }
        #expect(try protection(origins, of: "http://slow.test/")?.underWay == 1)
        #expect(origins.count == 1)
        isReleased.fulfill(())
        #expect(try await first.status == .ok)
        _ = try await images.fetch(.example("http://e.test/"))
        #expect(try protection(origins, of: "http://slow.test/") == nil)
        #expect(origins.count == 1)
    }

    @Test func newPolicyAppliesToKnownAndNewOrigins() async throws {
        let origins = try origins()
        let images = client.protecting(by: origins)
        _ = try await images.fetch(.example("http://a.test/"))
        origins.replacePolicy(try UpstreamPolicy(attempts: 5))
        _ = try await images.fetch(.example("http://b.test/"))
        for host in ["a", "b"] { #expect(try protection(origins, of: "http://\(host).test/")?.policy.attempts == 5) }
        #expect(images.pipeline.description.contains("tries up to 5 times"))
        #expect(images.pipeline.source == "RecordingDataFetcher")
        #expect(images.pipeline.warnings == [])
    }

    @Test func observersReceiveTheEventsOfEveryOrigin() async throws {
        let recorder = RecordingFetchObserver()
        let images = client.protecting(by: try origins()).observing(with: recorder, timer: timer)
        try await kill("dead.test", with: images)
        _ = try await images.fetch(.example("http://live.test/a"))
        #expect(recorder.descriptions.count { $0.hasPrefix("Attempt 1 of") && $0.hasSuffix("began") } == 11)
        // The circuit is not named after the host, which would become a label of metrics.
        #expect(recorder.events.contains(.circuitChanged("images", from: "closed", to: "open")))
    }
}
