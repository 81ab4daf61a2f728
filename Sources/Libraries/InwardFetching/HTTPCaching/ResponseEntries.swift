#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a ``ResponseCache`` keeps: answers by partition and request, within a limit of bytes.
struct ResponseEntries {
    struct Key: Hashable {
        let partition: Int
        let request: DataRequest
    }

    /// Tells an answer that is asked for now from those that are asked for earlier or later.
    struct Question {
        let key: Key
        /// How often the partition was emptied by then; `nil` if it was closed.
        fileprivate let version: Int?
        /// The place among all questions.
        fileprivate let number: Int
        /// When it was asked.
        let time: Duration
    }

    /// The questions for one key that are under way.
    private struct QuestionsUnderWay {
        var count = 0
        /// The latest question that was answered meanwhile, whether or not the answer was kept: earlier ones come too late.
        var latestAnswered = 0
    }

    private struct Entry {
        let response: DataResponse
        let birth: Duration
        let expiry: Duration
        let place: Int
        let bytes: Int
        let question: Int
    }

    private let byteLimit: Int
    private var entries: [Key: Entry] = [:]
    private var bytes = 0
    /// The keys in the order they were stored. A key whose entry has another place was stored again, or is gone.
    private var order: ArraySlice<(key: Key, place: Int)> = []
    private var nextPlace = 0
    /// How often each open partition was emptied.
    private var versions: [Int: Int] = [:]
    private var nextPartition = 0
    private var lastQuestion = 0
    private var questions: [Key: QuestionsUnderWay] = [:]

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
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

    /// How many requests have questions under way.
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
        for key in entries.keys where key.partition == partition { remove(key) }
    }

    /// The answer that is kept for a request, and how old it is.
    mutating func response(
        to request: DataRequest,
        in partition: Int,
        at now: Duration
    ) -> (response: DataResponse, age: Duration)? {
        let key = Key(partition: partition, request: request)
        guard let entry = entries[key] else { return nil }
        guard now < entry.expiry else {
            remove(key)
            return nil
        }
        return (entry.response, max(.zero, now - entry.birth))
    }

    /// Takes the answer to a question that is under way.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - question: The question.
    ///   - birth: When the answer was made.
    ///   - expiry: Until when it is kept; `nil` if it is not.
    ///   - bytes: How many bytes it takes.
    mutating func store(
        _ response: DataResponse,
        asked question: Question,
        madeAt birth: Duration,
        until expiry: Duration?,
        bytes: Int
    ) {
        let key = question.key
        guard let version = question.version, versions[key.partition] == version else { return }
        // An answer that was asked for earlier, and took longer, is older.
        if let underWay = questions[key], underWay.latestAnswered > question.number { return }
        if let kept = entries[key], kept.question > question.number { return }
        questions[key]?.latestAnswered = question.number
        remove(key)
        guard let expiry, bytes <= byteLimit else { return }
        entries[key] = Entry(
            response: response,
            birth: birth,
            expiry: expiry,
            place: nextPlace,
            bytes: bytes,
            question: question.number
        )
        order.append((key, nextPlace))
        nextPlace += 1
        self.bytes += bytes
        while self.bytes > byteLimit, let oldest = order.popFirst() {
            if entries[oldest.key]?.place == oldest.place { remove(oldest.key) }
        }
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= entry.bytes
        // Most of the order is of entries that are gone: otherwise it would grow with every answer ever stored.
        if order.count > 2 * entries.count + 16 {
            order.removeAll { entries[$0.key]?.place != $0.place }
        }
    }
}

extension DataResponse {
    /// About how many bytes it takes to keep this answer to a request. Many answers without a body fill the memory too.
    func bytesToKeep(for request: DataRequest) -> Int {
        let fields = Array(request.headerFields) + Array(headerFields)
        // A name is kept as it was written and in lower case.
        let text = fields.reduce(request.url.absoluteString.utf8.count) { count, field in
            count + 2 * field.name.rawValue.utf8.count + field.value.utf8.count
        }
        return Self.bytesOfAnEntry + text + body.count
    }

    /// What an entry takes beside what it says.
    private static let bytesOfAnEntry = 512
}
