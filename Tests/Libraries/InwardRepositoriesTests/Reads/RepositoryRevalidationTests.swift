import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Revalidation of cached entities.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryRevalidationTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private let clock = ManualClock()
    private let source = RemarkSource()

    private func repository(store: RepositoryStore? = nil) throws -> Repository<Remark> {
        try .remarks(source, TimerService(clock), lifetimes: Lifetimes(staleAfter: .seconds(60)), store: store)
    }

    private func condition(_ name: HeaderField.Name) -> String? { source.requests.last?.headerFields[name] }

    @Test(arguments: [
        (HeaderField.Name.etag, #""v1""#, HeaderField.Name.ifNoneMatch), (.etag, #"W/"v1""#, .ifNoneMatch),
        (.lastModified, "Wed, 25 Nov 2026 03:00:00 GMT", .ifModifiedSince),
    ])
    func unchangedEntityBecomesFresh(name: HeaderField.Name, value: String, asked: HeaderField.Name) async throws {
        source.send(name, value)
        let repository = try repository()
        _ = try await repository.entity(1)
        #expect(condition(asked) == nil)
        clock.advance(by: .seconds(120))
        source.answer(status: .notModified, body: "")
        let reading = try await repository.entity(1)
        #expect(reading == Reading(Remark(id: 1, author: 7, text: "one"), origin: .upstream))
        #expect(condition(asked) == value && source.requests.count == 2)
        #expect(try await repository.entity(1).origin == .memory)
        // The 304 had no content, but the entity keeps its validator for the next request.
        clock.advance(by: .seconds(120))
        _ = try await repository.entity(1)
        #expect(condition(asked) == value && source.requests.count == 3)
    }

    @Test func changedEntityReplacesTheOldOne() async throws {
        source.send(.etag, #""v1""#)
        let repository = try repository()
        _ = try await repository.entity(1)
        clock.advance(by: .seconds(120))
        source.put(Remark(id: 1, author: 7, text: "new"))
        source.send(.etag, #""v2""#)
        #expect(try await repository.entity(1).value.text == "new")
        _ = try await repository.entity(1, .upstreamOnly)
        #expect(condition(.ifNoneMatch) == #""v2""#)
    }

    @Test func onlyACachedVersionIsRevalidated() async throws {
        source.send(.etag, #""v1""#)
        let repository = try repository()
        _ = try await repository.entity(1)
        repository.invalidate(1)
        _ = try await repository.entity(1)
        #expect(condition(.ifNoneMatch) == nil)
        _ = try await repository.entities()
        #expect(condition(.ifNoneMatch) == nil)
        // A 304 to an unconditional request is not accepted.
        source.answer(status: .notModified, body: "")
        #expect(await repository.failure(2, .upstreamOnly) == .unavailable)
    }

    @Test func laterProcessRevalidatesTheStoredVersion() async throws {
        let records = InMemoryRecordStore(now: { Self.day })
        func place(_ age: TimeInterval) -> RepositoryStore {
            RepositoryStore(records, partition: []) {
                Self.day.addingTimeInterval(age)
            } reportFailure: { _ in
            }
        }
        source.send(.etag, #""v1""#)
        let first = try repository(store: place(0))
        _ = try await first.entity(1)
        await first.close()
        source.answer(status: .notModified, body: "")
        let second = try repository(store: place(120))
        #expect(try await second.entity(1).value.text == "one")
        #expect(condition(.ifNoneMatch) == #""v1""#)
        await second.close()
        let third = try repository(store: place(130))
        #expect(try await third.entity(1).origin == .store)
        #expect(source.requests.count == 2)
    }

    // MARK: Stored form

    @Test func storedAnswerHasItsValidatorAndVersionOneHasNone() throws {
        let body = Data("{}".utf8)
        let plain = StoredAnswer(time: Self.day, body: body)
        #expect(plain.bytes.first == 1 && StoredAnswer(plain.bytes)?.validator == nil)
        #expect(StoredAnswer(plain.bytes)?.body == body && StoredAnswer(plain.bytes)?.time == Self.day)
        let tagged = StoredAnswer(time: Self.day, validator: Validator(text: #""é""#), body: body)
        #expect(tagged.bytes.first == 2)
        let read = try #require(StoredAnswer(tagged.bytes))
        #expect(read.validator == tagged.validator && read.body == body && read.time == Self.day)
        let long = StoredAnswer(
            time: Self.day,
            validator: Validator(text: String(repeating: "x", count: 1_025)),
            body: body
        )
        #expect(long.bytes == plain.bytes)
    }

    /// Its length takes two bytes.
    @Test(arguments: [1, 255, 256, 1_024]) func validatorOfAnyLengthIsDecoded(length: Int) {
        let validator = Validator(text: String(repeating: "x", count: length))
        let tagged = StoredAnswer(time: Self.day, validator: validator, body: Data("{}".utf8))
        let read = StoredAnswer(tagged.bytes)
        #expect(read?.validator == validator && read?.body == tagged.body)
    }

    @Test func damagedValidatorIsNotDecoded() {
        let tagged = StoredAnswer(time: Self.day, validator: Validator(text: #""v1""#), body: Data()).bytes
        for length in 1..<tagged.count { #expect(StoredAnswer(Array(tagged.prefix(length))) == nil, "\(length)") }
        var other = tagged
        for byte in [0, 5, 255] as [UInt8] {
            other[10] = byte
            #expect(StoredAnswer(other) == nil, "\(byte)")
        }
        other[10] = 4
        other[12] = 0xFF
        #expect(StoredAnswer(other) == nil)
        other[0] = 3
        #expect(StoredAnswer(other) == nil)
    }

    @Test func onlyAStrongTagIdentifiesAVersion() {
        #expect(Validator(text: #""v1""#).entityTag == #""v1""#)
        for text in [#"W/"v1""#, "Wed, 25 Nov 2026 03:00:00 GMT", #""a"b""#, "\""] {
            #expect(Validator(text: text).entityTag == nil, "\(text)")
        }
    }
}
