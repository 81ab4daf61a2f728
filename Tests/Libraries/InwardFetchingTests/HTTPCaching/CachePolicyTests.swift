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

struct CachePolicyTests {
    /// Returns what a policy says about a response.
    private func lifetime(
        _ fields: HeaderFields,
        status: DataResponse.Status = .ok,
        of policy: CachePolicy = .shared,
        to requestFields: HeaderFields = [],
        method: DataRequest.Method = .get
    ) throws -> Duration? {
        var request = try DataRequest.example()
        request.headerFields = requestFields
        request.method = method
        return policy.remainingLifetime(
            of: DataResponse(status: status, headerFields: fields, body: Data("body".utf8)),
            to: request,
            arrivedAt: Date(timeIntervalSince1970: 784_111_777)
        )
    }

    @Test func lifetimeIsWhatRemainsOnArrival() throws {
        var fields: HeaderFields = [
            HeaderField(.cacheControl, "max-age=60, s-maxage=90"), HeaderField(.date, "Sun, 06 Nov 1994 08:49:27 GMT"),
        ]
        #expect(try lifetime(fields) == .seconds(80))
        #expect(try lifetime(fields, of: .private) == .seconds(50))
        fields.append(HeaderField(.age, "20"))
        #expect(try lifetime(fields, of: .private) == .seconds(40))
    }

    @Test func lifetimeIsFoundWhereverTheResponseStatesIt() throws {
        let now = HeaderField(.date, "Sun, 06 Nov 1994 08:49:37 GMT")
        let targeted = [HeaderField(.cacheControl, "max-age=60"), HeaderField(.cdnCacheControl, "max-age=30")]
        #expect(try lifetime(HeaderFields(targeted)) == .seconds(30))
        #expect(try lifetime(HeaderFields(targeted), of: .private) == .seconds(60))
        #expect(try lifetime([now, HeaderField(.expires, "Sun, 06 Nov 1994 08:50:37 GMT")]) == .seconds(60))
        #expect(try lifetime([now, HeaderField(.lastModified, "Sun, 06 Nov 1994 08:47:57 GMT")]) == .seconds(10))
        var brief = CachePolicy.shared
        brief.maximumLifetime = .seconds(5)
        #expect(try lifetime([HeaderField(.cacheControl, "max-age=60")], of: brief) == .seconds(5))
        let part: HeaderFields = [HeaderField(.cacheControl, "max-age=60"), HeaderField(.contentRange, "bytes 0-3/9")]
        #expect(try lifetime(part, status: .partialContent) == .seconds(60))
    }

    @Test(arguments: ["max-age=0", "max-age=5", "no-cache, max-age=60"])
    func responsesToBeValidatedHaveALifetimeOfZero(directives: String) throws {
        #expect(try lifetime([HeaderField(.cacheControl, directives), HeaderField(.age, "10")]) == .zero)
    }

    @Test func responsesThatMustNotBeStoredHaveNoLifetime() throws {
        let fresh = HeaderField(.cacheControl, "max-age=60")
        #expect(try lifetime([HeaderField(.cacheControl, "no-store, max-age=60")]) == nil)
        #expect(try lifetime([HeaderField(.cacheControl, "private, max-age=60")]) == nil)
        #expect(try lifetime([HeaderField(.cacheControl, "private, max-age=60")], of: .private) == .seconds(60))
        #expect(try lifetime([fresh, HeaderField(.vary, "*")]) == nil)
        #expect(try lifetime([fresh], status: .partialContent) == nil)
        #expect(try lifetime([fresh], to: [HeaderField(.authorization, "Bearer 1")]) == nil)
        #expect(try lifetime([fresh], to: [HeaderField(.cacheControl, "no-store")]) == nil)
        let answer = DataResponse(headerFields: [fresh])
        var (cached, redirected) = (answer, answer)
        cached.origin = .memory
        redirected.url = try .example("elsewhere")
        for (response, lifetime) in [(answer, Duration.seconds(60)), (cached, nil), (redirected, nil)] {
            let found = CachePolicy.shared.remainingLifetime(of: response, to: try .example(), arrivedAt: .distantPast)
            #expect(found == lifetime)
        }
        for method in [DataRequest.Method.head, .post, .put, .delete] {
            #expect(try lifetime([fresh], method: method) == nil)
        }
        #expect(try lifetime([fresh]) == .seconds(60))
    }
}
