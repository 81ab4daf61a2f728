import Dispatch
import Foundation
import InwardCore

@testable import InwardFetching
@testable import InwardRepositories

/// Reads bytes as a record of an outbox: the first line is the key, and the rest is the record's bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false).map(
        Array.init
    )
    guard parts.count == 2 else { return 0 }
    let components = String(decoding: parts[0], as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
    let key = RecordKey(components.map(String.init))
    checkNote(parts[1])
    checkStreak(parts[1])
    if let name = OutboxEntryName(key, under: []) {
        precondition(name.key(under: []) == key)
        precondition(name.sequence >= 0 && name.sequence <= .max / 2 && !name.idempotencyKey.isEmpty)
        checkEntry(parts[1], named: name)
        checkLetter(parts[1], named: name)
    }
    list(parts[1], under: key)
    return 0
}

/// The current time of all checks.
private let date = Date(timeIntervalSince1970: 1_700_000_000)

/// Checks that an entry survives being encoded again, and is only sent to paths that its endpoint allows.
private func checkEntry(_ bytes: [UInt8], named name: OutboxEntryName) {
    switch OutboxEntryDTO.entry(from: bytes, named: name, attempts: 3) {
    case .success(let entry):
        precondition(OutboxEntryName(entry) == name && entry.attempts == 3)
        precondition(entry.write.method.rawValue.isToken && entry.write.byteCount >= 0)
        guard let written = try? OutboxEntryDTO.bytes(of: entry) else {
            preconditionFailure("The decoded entry cannot be encoded.")
        }
        precondition(OutboxEntryDTO.entry(from: written, named: name, attempts: 3) == .success(entry))
        checkRequest(for: entry)
    case .failure(.newer(let version)):
        precondition(version > OutboxEntryDTO.version)
    case .failure(.damaged(let problem)):
        checkLine(problem)
    }
    _ = OutboxEntryDTO.mayHaveBeenSentWithoutNote(bytes)
}

private let baseURL = URL(string: "https://upstream.test/api") ?? URL(filePath: "/")
private let outbox = Outbox(
    upstream: Upstream(baseURL: baseURL, dataFetcher: UnreachableUpstream()),
    store: InMemoryRecordStore(),
    errorHandler: IgnoringErrorHandler()
)
private let handlers: OutboxHandlers = {
    var handlers = OutboxHandlers()
    _ = handlers.add(["posts": PostHandler()])
    return handlers
}()

/// Checks the request of a write that the handler of its endpoint allows, which is sent with the upstream's credentials.
private func checkRequest(for entry: OutboxEntry) {
    guard handlers.objection(to: entry.write) == nil else { return }
    let request = outbox.request(for: entry)
    precondition(entry.write.endpoint == "posts" && request.method == entry.write.method && request.isSentOnce)
    let names = request.headerFields.map(\.name.rawValue)
    let condition = if case .entityTag = entry.write.version { ["If-Match"] } else { [String]() }
    precondition(
        names == ["Accept"] + (entry.write.body == nil ? [] : ["Content-Type"]) + ["Idempotency-Key"] + condition
    )
    precondition(request.body.map(Array.init) == entry.write.body)
    guard request.url.absoluteString.utf8.count <= DataRequest.maximumAddressBytes else { return }
    precondition(request.problem == nil && WebOrigin(request.url) == WebOrigin(baseURL))
    precondition(request.url.query() == nil && request.url.fragment() == nil && request.url.user() == nil)
    // The path is that of an allowed operation, however a server interprets it.
    let path = request.url.path(percentEncoded: true)
    precondition(request.url.standardized.path(percentEncoded: true) == path)
    let components = path.split(separator: "/", omittingEmptySubsequences: false).map {
        $0.removingPercentEncoding ?? ""
    }
    switch (request.method, components.count) {
    case (.post, 3): precondition(components == ["", "api", "posts"])
    case (.put, 4), (.delete, 4): precondition(components.prefix(3) == ["", "api", "posts"])
    default: preconditionFailure("The entry is sent to an undeclared path: \(path)")
    }
    precondition(components.dropFirst(2).joined(separator: "/").utf8.elementsEqual(entry.write.path.utf8))
}

/// Checks that a dead letter survives being encoded again.
private func checkLetter(_ bytes: [UInt8], named name: OutboxEntryName) {
    let item = DeadLetterDTO.item(from: bytes, named: name)
    checkItem(item)
    precondition(item.id == name.idempotencyKey)
    guard case .refused = item.state else { return }
    guard let letter = try? DeadLetterDTO.decoded(from: Data(bytes)), let written = try? letter.bytes() else {
        preconditionFailure("The decoded dead letter cannot be encoded.")
    }
    precondition(DeadLetterDTO.item(from: written, named: name) == item)
}

/// Checks that a note of delivery attempts is within bounds, and survives being encoded again.
private func checkNote(_ bytes: [UInt8]) {
    let note = AttemptNote(bytes)
    precondition((0...1_000_000).contains(note.attempts))
    if let cause = note.cause { checkLine(cause) }
    precondition(AttemptNote(note.bytes) == note)
    // A note proves that an attempt did not arrive only if it is valid.
    let isNote = (try? AttemptNote.decoded(from: Data(bytes))) != nil
    precondition(isNote || note.mayHaveArrived)
    if let next = note.nextAttemptDate {
        let rest = OutboxPolicy.standard.rest(of: next.timeIntervalSince(date))
        precondition(rest >= .zero && rest <= .seconds(31_536_000))
    }
}

/// Checks that no restored pause exceeds its maximum, and that a restored streak survives being stored again.
private func checkStreak(_ bytes: [UInt8]) {
    guard let record = try? RefusalStreak.Record.decoded(from: Data(bytes)) else { return }
    if let pause = record.pause {
        checkLine(pause.cause)
        precondition(pause.refusals >= 0)
    }
    let policy = OutboxPolicy.standard
    var streak = RefusalStreak(policy)
    streak.restore(record, at: .seconds(5), date)
    precondition(streak.subjects.count <= policy.refusalsBeforePause && streak.wait <= policy.maximumPause)
    if case .paused(let end) = streak.phase {
        precondition(record.pause != nil && end >= .seconds(5) && end <= .seconds(5) + policy.maximumPause)
    } else {
        precondition(streak.phase == .running && (record.version != 1 || record.until == nil))
    }
    var again = RefusalStreak(policy)
    let kept = streak.record(at: .seconds(5), date)
    guard let read = try? RefusalStreak.Record.decoded(from: Data(kept.bytes)) else {
        preconditionFailure("The streak cannot be encoded and decoded.")
    }
    again.restore(read, at: .seconds(5), date)
    precondition(again.subjects == streak.subjects && again.wait == streak.wait)
    precondition(again.isPaused == streak.isPaused)
}

/// Lists an outbox that has the record in every place where a record can be.
private func list(_ bytes: [UInt8], under key: RecordKey) {
    let isDone = DispatchSemaphore(value: 0)
    // An unstructured task, because the fuzzer calls a synchronous function. It is awaited below.
    Task {
        let store = InMemoryRecordStore()
        let places = ["entries", "attempts", "dead"].map { RecordKey(["outbox", $0] + key.components) }
        let record = StoredRecord(bytes)
        do {
            try await store.commit((places + [["outbox", "pause"], ["outbox", "losses"]]).map { .keep(record, $0) })
            let contents = try await OutboxContents(of: store)
            precondition(contents.pending.count == 1)
            // If the key identifies the entry, it is both pending and a dead letter, and is only listed as pending.
            precondition(contents.deadLetters.isEmpty == (OutboxEntryName(key, under: []) != nil))
            for item in contents.pending + contents.deadLetters { checkItem(item) }
            precondition(contents.status.pendingCount == 1 && contents.status.pendingBytes >= 0)
        } catch {
            preconditionFailure("\(error)")
        }
        isDone.signal()
    }
    isDone.wait()
}

private func checkItem(_ item: OutboxItem) {
    precondition(item.attempts >= 0 && item.byteCount >= 0)
    if let cause = item.cause { checkLine(cause) }
    if case .undeliverable = item.state { precondition(item.write == nil) }
}

/// Checks that a message is a single line of limited length.
private func checkLine(_ message: String) {
    precondition(message.count <= 1_000 && !message.contains { $0.isNewline })
}

/// A handler that allows operations on posts.
private struct PostHandler: OutboxHandler {
    let endpoint = "posts"
    let operations = [
        OutboxOperation(.post, "posts"), OutboxOperation(.put, "posts/*"), OutboxOperation(.delete, "posts/*"),
    ]

    func reset(to entries: [OutboxEntry]) {}
    func accepted(_ entries: [OutboxEntry]) {}

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement([]) }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement([]) }
}

/// A data fetcher that never succeeds.
private struct UnreachableUpstream: DataFetcher {
    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        throw FetchError(.unreachable, request: request, explanation: "was not sent", wasSent: false)
    }
}
