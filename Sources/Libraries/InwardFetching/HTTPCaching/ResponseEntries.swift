import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The contents of a ``ResponseCache``: responses by partition and request, within a byte limit.
struct ResponseEntries {
    struct Key: Hashable {
        let partition: Int
        let request: DataRequest
    }

    /// A request under way, whose number orders its response relative to others.
    struct Question {
        let key: Key
        /// The number of times that the partition had been emptied; `nil` if it was closed.
        fileprivate let version: Int?
        /// The sequence number among all requests.
        fileprivate let number: Int
        /// The time of the request.
        let time: Duration
    }

    /// The requests under way for one key.
    private struct QuestionsUnderWay {
        var count = 0
        /// The latest of them that was answered, whether or not its response was stored. Responses to earlier requests are
        /// outdated.
        var latestAnswered = 0
    }

    private struct Entry {
        let response: DataResponse
        let birth: Duration
        let expiry: Duration
        let question: Int
    }

    private var entries: SieveCache<Key, Entry>
    /// The number of times that each open partition was emptied.
    private var versions: [Int: Int] = [:]
    private var nextPartition = 0
    private var lastQuestion = 0
    private var questions: [Key: QuestionsUnderWay] = [:]

    init(byteLimit: Int) {
        entries = SieveCache(limit: byteLimit)
    }

    var count: Int { entries.count }

    mutating func openPartition() -> Int {
        defer { nextPartition += 1 }
        versions[nextPartition] = 0
        return nextPartition
    }

    mutating func closePartition(_ partition: Int) {
        removeAll(in: partition)
        versions[partition] = nil
    }

    /// The number of distinct requests under way.
    var questionCount: Int { questions.count }

    mutating func beginQuestion(_ request: DataRequest, in partition: Int, at time: Duration) -> Question {
        lastQuestion += 1
        let key = Key(partition: partition, request: request)
        questions[key, default: QuestionsUnderWay()].count += 1
        return Question(key: key, version: versions[partition], number: lastQuestion, time: time)
    }

    mutating func end(_ question: Question) {
        guard var underWay = questions[question.key] else { return }
        underWay.count -= 1
        questions[question.key] = underWay.count > 0 ? underWay : nil
    }

    mutating func removeAll(in partition: Int) {
        versions[partition]? += 1
        _ = entries.removeAll { key, _ in key.partition == partition }
    }

    /// Returns the stored response to a request, and its age.
    mutating func response(
        to request: DataRequest,
        in partition: Int,
        at now: Duration
    ) -> (response: DataResponse, age: Duration)? {
        let key = Key(partition: partition, request: request)
        guard let entry = entries.value(for: key) else { return nil }
        guard now < entry.expiry else {
            entries.remove(key)
            return nil
        }
        return (entry.response, max(.zero, now - entry.birth))
    }

    /// Stores the response to a request under way.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - question: The request under way.
    ///   - birth: The time at which the response was created.
    ///   - expiry: The time at which the response expires; `nil` to store nothing.
    ///   - bytes: The number of bytes that the entry takes.
    mutating func store(
        _ response: DataResponse,
        asked question: Question,
        madeAt birth: Duration,
        until expiry: Duration?,
        bytes: Int
    ) {
        let key = question.key
        guard let version = question.version, versions[key.partition] == version else { return }
        // A response to an earlier request that took longer is outdated.
        if let underWay = questions[key], underWay.latestAnswered > question.number { return }
        if let kept = entries.peek(key), kept.question > question.number { return }
        questions[key]?.latestAnswered = question.number
        guard let expiry else {
            entries.remove(key)
            return
        }
        let entry = Entry(response: response, birth: birth, expiry: expiry, question: question.number)
        entries.insert(entry, for: key, cost: bytes)
    }
}

extension DataResponse {
    /// Returns the approximate number of bytes that the cache needs for this response to a request. They include an overhead,
    /// because many responses without a body also fill the memory.
    func bytesToKeep(for request: DataRequest) -> Int {
        let fields = Array(request.headerFields) + Array(headerFields)
        // A name is stored both as written and in lower case.
        let text = fields.reduce(request.url.absoluteString.utf8.count) { count, field in
            count + 2 * field.name.rawValue.utf8.count + field.value.utf8.count
        }
        return Self.bytesOfAnEntry + text + body.count
    }

    /// The overhead of an entry.
    private static let bytesOfAnEntry = 512
}
