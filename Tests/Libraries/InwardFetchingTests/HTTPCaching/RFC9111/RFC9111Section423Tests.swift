import InwardTesting
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// RFC 9111 sections 4.2.3 and 4.2.4: ages, and stale responses.
struct RFC9111Section423Tests {
    // MARK: 4.2.3 Calculating age

    /// Returns the age of a stored response.
    ///
    /// - Parameters:
    ///   - date: The time of the `Date` field, relative to the request.
    ///   - age: The value of the `Age` field.
    ///   - delay: The time from the request to the response.
    ///   - residence: The time since the response.
    /// - Returns: The value of the `Age` field.
    /// - Throws: The errors of the cache.
    private func age(date: Int?, age: Int?, delay: Int, residence: Int) async throws -> String? {
        var response = DataResponse("", ["Cache-Control: max-age=1000"])
        response.headerFields[.date] = date.map { CacheStage.date($0) }
        response.headerFields[.age] = age.map(String.init)
        let (clock, answer) = (ManualClock(), response)
        let stage = CacheStage(
            clock: clock,
            upstream: StubDataFetcher { _ throws(FetchError) in
                clock.advance(by: .seconds(delay))
                return answer
            }
        )
        _ = try await stage.get()
        stage.advance(residence)
        let copy = try await stage.get()
        #expect(copy.isReused)
        return copy.headerFields[.age]
    }

    @Test func timeInTheCacheCounts() async throws {
        #expect(try await age(date: 0, age: nil, delay: 0, residence: 7) == "7")
        #expect(try await age(date: nil, age: nil, delay: 0, residence: 7) == "7")
    }

    @Test func theDateOfTheResponseCounts() async throws {
        #expect(try await age(date: -20, age: nil, delay: 0, residence: 7) == "27")
        #expect(try await age(date: -20, age: nil, delay: 5, residence: 7) == "32")
    }

    @Test func aDateInTheFutureDoesNotCount() async throws {
        #expect(try await age(date: 20, age: nil, delay: 0, residence: 7) == "7")
    }

    @Test func theAgeFieldCountsFromTheRequest() async throws {
        #expect(try await age(date: nil, age: 10, delay: 0, residence: 7) == "17")
        #expect(try await age(date: nil, age: 10, delay: 5, residence: 7) == "22")
        #expect(try await age(date: nil, age: nil, delay: 5, residence: 7) == "12")
    }

    @Test func theGreaterOfBothAgesCounts() async throws {
        #expect(try await age(date: -20, age: 10, delay: 5, residence: 7) == "32")
        #expect(try await age(date: -20, age: 30, delay: 5, residence: 7) == "42")
    }

    @Test(arguments: ["Date: \(CacheStage.date(60))", "X: 1"])
    func theAgeCountsFromTheLastValidation(field: String) async throws {
        let stage = CacheStage(.private, .fresh("1", "ETag: \"a\"", "Age: 5"), .notModified("ETag: \"a\"", field))
        _ = try await stage.get()
        stage.advance(60)
        #expect(try await stage.get().headerFields[.age] == "0")
        stage.advance(59)
        let copy = try await stage.get()
        #expect(copy.isReused)
        #expect(copy.headerFields[.age] == "59")
    }

    // MARK: 4.2.4 Serving stale responses

    private static let forbidding = ["no-cache", "must-revalidate", "proxy-revalidate", "s-maxage=60"]

    /// Returns whether a response with a directive is used stale, because the upstream does not answer or the request accepts it.
    private func isUsedStale(_ directive: String, _ policy: CachePolicy, _ fields: String...) async throws -> Bool {
        let stage = CacheStage(
            policy,
            .fresh("1", "Cache-Control: \(directive)", "ETag: \"a\""),
            .failure(.unreachable)
        )
        _ = try await stage.get()
        stage.advance(70)
        return (try? await stage.send(.get, fields))?.text == "1"
    }

    @Test(arguments: ["Cache-Control: max-stale", "X: disconnected"])
    func staleResponsesAreNotUsedIfADirectiveForbidsIt(field: String) async throws {
        for directive in Self.forbidding {
            let isGeneral = ["no-cache", "must-revalidate"].contains(directive)
            #expect(try await isUsedStale(directive, .private, field) == !isGeneral, "\(directive)")
            #expect(try await !isUsedStale(directive, .shared, field), "\(directive)")
        }
        #expect(try await isUsedStale("public", .shared, field))
    }

    @Test(arguments: [FetchError.Reason.unreachable, .timedOut, .interrupted])
    func aDisconnectedCacheUsesStaleResponsesForADay(reason: FetchError.Reason) async throws {
        let stage = CacheStage(.private, .fresh("1"), .failure(reason), .failure(reason), .failure(reason))
        _ = try await stage.get()
        // Each failed request leaves the response as it is.
        for seconds in [60, 86_399] {
            stage.advance(seconds)
            let answer = try await stage.get()
            #expect(answer.text == "1")
            #expect(answer.isReused)
        }
        stage.advance(1)
        await #expect(throws: FetchError.self) { try await stage.get() }
    }

    @Test func theLimitOfStaleUseIsAPolicy() async throws {
        var policy = CachePolicy.shared
        policy.staleLimit = .zero
        #expect(try await !isUsedStale("public", policy))
        policy.staleLimit = .seconds(11)
        #expect(try await isUsedStale("public", policy))
        policy.staleLimit = .seconds(10)
        #expect(try await !isUsedStale("public", policy))
    }

    @Test(arguments: [404, 429, 500, 503])
    func aConnectedCacheDoesNotUseStaleResponsesWithoutPermission(code: Int) async throws {
        let stage = CacheStage(.private, .fresh("1"), .response("2", status: DataResponse.Status(code)))
        _ = try await stage.get()
        stage.advance(60)
        let answer = try await stage.get()
        #expect(answer.status.code == code)
        #expect(answer.text == "2")
    }

    @Test(arguments: [FetchError.Reason.invalidRequest, .cancelled])
    func failuresThatDoNotComeFromTheUpstreamAreThrown(reason: FetchError.Reason) async throws {
        let stage = CacheStage(.private, .fresh("1"), .failure(reason))
        _ = try await stage.get()
        stage.advance(60)
        await #expect(throws: FetchError.self) { try await stage.get() }
    }
}
