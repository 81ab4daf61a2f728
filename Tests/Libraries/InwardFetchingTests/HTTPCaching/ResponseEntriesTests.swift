import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ResponseEntriesTests {
    /// Returns entries with one empty partition.
    private func makeEntries(byteLimit: Int) -> (ResponseEntries, partition: Int) {
        var entries = ResponseEntries(byteLimit: byteLimit)
        let partition = entries.openPartition()
        return (entries, partition)
    }

    private func request(_ number: Int) throws -> DataRequest { try .example("http://upstream.test/\(number)") }

    private func body(_ count: Int) -> DataResponse { DataResponse(body: Data(repeating: 0x20, count: count)) }

    /// Returns which of the first ten requests have a stored response.
    private func kept(_ entries: ResponseEntries, in partition: Int) throws -> [Int] {
        var entries = entries
        return try (0..<10).filter { entries.response(to: try request($0), in: partition, at: .zero) != nil }
    }

    /// 512 bytes of overhead, 22 for the URL, the name of each field twice and its value once, and the body.
    @Test func costOfAnEntryIsThatOfItsContentsAndAnOverhead() throws {
        var request = try request(1)
        request.headerFields = [HeaderField(.accept, "text/plain")]
        let response = DataResponse(headerFields: [HeaderField(.age, "20")], body: Data(repeating: 0x20, count: 100))
        #expect(response.bytesToKeep(for: request) == 512 + 22 + (12 + 10) + (6 + 2) + 100)
    }

    @Test func unreadEntriesAreEvictedOldestFirst() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        for number in 0..<3 {
            entries.store(body(4), to: try request(number), in: partition, until: .seconds(1))
        }
        #expect(try kept(entries, in: partition) == [1, 2])
        entries.store(body(9), to: try request(3), in: partition, until: .seconds(1))
        #expect(try kept(entries, in: partition) == [3])
        entries.store(body(1), to: try request(4), in: partition, until: .seconds(1))
        #expect(try kept(entries, in: partition) == [3, 4])
    }

    @Test func readEntriesOutliveOthers() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        for number in 0..<2 {
            entries.store(body(4), to: try request(number), in: partition, until: .seconds(1))
        }
        #expect(entries.response(to: try request(0), in: partition, at: .zero) != nil)
        entries.store(body(4), to: try request(2), in: partition, until: .seconds(1))
        #expect(try kept(entries, in: partition) == [0, 2])
    }

    /// A response that must not be stored shows that the previous one is outdated.
    @Test func uncacheableResponseRemovesThePreviousOne() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        for expiry in [.seconds(1), nil] as [Duration?] {
            entries.store(body(4), to: try request(0), in: partition, until: expiry)
        }
        #expect(entries.count == 0)
    }

    @Test func entriesStoredAgainBecomeTheNewest() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        for number in [0, 1, 0, 2] {
            entries.store(body(4), to: try request(number), in: partition, until: .seconds(1))
        }
        #expect(try kept(entries, in: partition) == [0, 2])
        #expect(entries.count == 2)
    }

    @Test func entriesAboveTheLimitAreNotStoredAndEvictNothing() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        entries.store(body(10), to: try request(0), in: partition, until: .seconds(1))
        entries.store(body(11), to: try request(1), in: partition, until: .seconds(1))
        #expect(try kept(entries, in: partition) == [0])
    }

    @Test func allPartitionsShareTheLimit() throws {
        var (entries, first) = makeEntries(byteLimit: 10)
        let second = entries.openPartition()
        #expect(first != second)
        entries.store(body(6), to: try request(0), in: first, until: .seconds(1))
        entries.store(body(6), to: try request(0), in: second, until: .seconds(1))
        #expect(try kept(entries, in: first).isEmpty)
        #expect(try kept(entries, in: second) == [0])
    }

    @Test func removedEntriesFreeTheirBytes() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        let other = entries.openPartition()
        entries.store(body(5), to: try request(0), in: other, until: .seconds(1))
        entries.store(body(5), to: try request(1), in: partition, until: .seconds(1))
        entries.removeAll(in: partition)
        entries.store(body(5), to: try request(2), in: partition, until: .seconds(1))
        #expect(try kept(entries, in: other) == [0])
        #expect(try kept(entries, in: partition) == [2])
    }

    @Test func responsesRequestedBeforeEmptyingAreNotStored() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        let question = entries.beginQuestion(try request(0), in: partition, at: .zero)
        entries.removeAll(in: partition)
        entries.store(body(1), asked: question, until: .seconds(1))
        #expect(entries.count == 0)
        entries.store(body(1), to: try request(0), in: partition, until: .seconds(1))
        #expect(entries.count == 1)
    }

    @Test func earlierRequestsAreOutdatedOnlyForTheSameKey() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        let early = try (0..<2).map { entries.beginQuestion(try request($0), in: partition, at: .zero) }
        let late = entries.beginQuestion(try request(0), in: partition, at: .zero)
        entries.store(body(1), asked: late, until: nil)
        for question in early { entries.store(body(1), asked: question, until: .seconds(1)) }
        #expect(try kept(entries, in: partition) == [1])
    }

    @Test func lastResponseToARequestIsStored() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        let question = entries.beginQuestion(try request(0), in: partition, at: .zero)
        for count in 1...2 { entries.store(body(count), asked: question, until: .seconds(1)) }
        #expect(entries.response(to: try request(0), in: partition, at: .zero)?.response == body(2))
    }

    /// State of requests is kept only while they are under way.
    @Test func endedRequestsAreForgotten() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        let questions = try [0, 0, 1].map { entries.beginQuestion(try request($0), in: partition, at: .zero) }
        #expect(entries.questionCount == 2)
        for question in questions { entries.store(body(1), asked: question, until: nil) }
        entries.end(questions[0])
        #expect(entries.questionCount == 2)
        entries.closePartition(partition)
        for question in questions.dropFirst() { entries.end(question) }
        #expect(entries.questionCount == 0)
    }

    @Test func numbersOfClosedPartitionsAreNotReused() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        entries.store(body(1), to: try request(0), in: partition, until: .seconds(1))
        entries.closePartition(partition)
        entries.closePartition(partition)
        #expect(entries.count == 0)
        entries.store(body(1), to: try request(0), in: partition, until: .seconds(1))
        #expect(entries.count == 0)
        #expect(entries.openPartition() != partition)
    }

    @Test func entriesAreServedUntilTheyExpire() throws {
        var (entries, partition) = makeEntries(byteLimit: 10)
        entries.store(body(1), to: try request(0), in: partition, until: .seconds(5))
        let kept = entries.response(to: try request(0), in: partition, at: .seconds(5) - .nanoseconds(1))
        #expect(kept?.response == body(1))
        #expect(kept?.age == .seconds(5) - .nanoseconds(1))
        #expect(entries.response(to: try request(0), in: partition, at: .seconds(5)) == nil)
        #expect(entries.count == 0)
    }
}

extension ResponseEntries {
    /// Begins a request and stores a response whose cost is the size of its body.
    fileprivate mutating func store(
        _ response: DataResponse,
        to request: DataRequest,
        in partition: Int,
        until expiry: Duration?
    ) {
        let question = beginQuestion(request, in: partition, at: .zero)
        store(response, asked: question, until: expiry)
        end(question)
    }

    fileprivate mutating func store(_ response: DataResponse, asked question: Question, until expiry: Duration?) {
        store(response, asked: question, madeAt: .zero, until: expiry, bytes: response.body.count)
    }
}
