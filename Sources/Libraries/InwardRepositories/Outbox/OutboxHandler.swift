public import InwardCore
public import InwardFetching

/// A handler of the writes of one endpoint, which shows them while they are pending and stores their outcomes.
///
/// A ``Repository`` has a handler. Write your own only for writes that are not entities of a repository:
/// <doc:WritingThroughAnOutbox> shows a complete one.
///
/// ```swift
/// func open(_ outbox: Outbox, for comments: Repository<Comment>) async throws {
///     try await outbox.open(handlers: [comments.handler])
/// }
/// ```
///
/// **Showing.** A handler adds the value of each entry that it receives in ``accepted(_:)`` to what readers see, in the order
/// of ``OutboxEntry/sequence``. When an entry is settled, the handler replaces that value with the upstream's, or with the
/// previous one if the write was refused. Later entries of the subject are still pending at that time, so the handler applies
/// them on top.
///
/// **Settling.** The outbox asks the handler for changes, and commits them together with the removal of the write. From that
/// call until ``OutboxSettlement/whenCommitted`` has run, no other write of the subject is accepted or settled. So the records
/// that the handler reads from the store do not change before its own changes are committed.
///
/// Writes of different subjects are settled concurrently, even if the outbox sends only one at a time, because a write that the
/// upstream has answered no longer counts toward ``OutboxPolicy/concurrency``.
public protocol OutboxHandler: Sendable {
    /// The name by which writes refer to this handler. It must not change between versions of the program, because writes are
    /// stored with it.
    var endpoint: String { get }

    /// The operations that writes of this endpoint may perform. The outbox neither accepts nor sends any others.
    var operations: [OutboxOperation] { get }

    /// How a ``SharedOutbox`` delivers the writes of this endpoint. The default is `OutboxTerms()`.
    var terms: OutboxTerms { get }

    /// Replaces the pending entries. The outbox calls it when it opens. When another process has taken over and will settle the
    /// entries, it passes an empty array. Must return quickly.
    ///
    /// - Parameter entries: All pending entries of this endpoint, in order.
    func reset(to entries: [OutboxEntry])

    /// Adds entries that are durable but not delivered yet. Must return quickly.
    ///
    /// - Parameter entries: New entries of this endpoint, in order.
    func accepted(_ entries: [OutboxEntry])

    /// Returns what to send for an entry that the upstream cannot have received yet. The default sends the entry unchanged.
    ///
    /// - Parameter entry: The first entry of its subject.
    /// - Returns: the instruction to send the entry, send a revision of it, or refuse it.
    /// - Throws: a ``RecordStoreError`` if the handler cannot tell yet. The outbox asks again later.
    func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation

    /// Shows pending entries whose content has changed, because a handler prepared them or resolved a conflict. Must return
    /// quickly. The default does nothing.
    ///
    /// - Parameter entries: Entries that the handler already knows.
    func revised(_ entries: [OutboxEntry])

    /// Decides a conflict: the upstream refused a write because it has another version of the resource.
    ///
    /// - Parameters:
    ///   - entry: The entry. Either the upstream has not done the write, or it did the write in an earlier attempt, and the
    ///     other version is the result.
    ///   - error: The refusal, with the reason `conflict`.
    /// - Returns: the decision, or `nil`, the default, to leave it to other handlers. If no handler decides, the write is
    ///   refused, and the refusal counts toward a pause.
    /// - Throws: a ``RecordStoreError`` if the decision cannot be made now. The entry is sent again later.
    func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution?

    /// Returns whether a write of this endpoint may be accepted and sent. By default, it matches one of the ``operations``.
    func declares(_ write: OutboxWrite) -> Bool

    /// Returns the changes to make for a delivered write.
    ///
    /// The outbox calls it again if the changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: The delivered entry.
    ///   - answer: The upstream's response, with a success status, or 404 or 410 to a `DELETE`.
    ///   - later: The undelivered entries of the same subject that follow, in order.
    /// - Returns: the changes, and an action to run after the commit. If the response cannot be used, set
    ///   ``OutboxSettlement/problem``. The write still counts as done.
    /// - Throws: a ``RecordStoreError`` if a store that the handler needs does not answer.
    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement

    /// Returns the changes that restore the previous value after a write was refused for good.
    ///
    /// The outbox calls it again if the changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: The refused entry.
    ///   - error: The refusal. Its reason is `notFound` if nothing exists at the path, `conflict` if the upstream has another
    ///     version, and otherwise `refused`. If the write was discarded, it is `refused`, or `outcomeUnknown` if the upstream
    ///     may have done it.
    ///   - later: The undelivered entries of the same subject that follow, in order.
    /// - Returns: the changes, and an action to run after the commit.
    /// - Throws: a ``RecordStoreError`` if a store that the handler needs does not answer.
    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement
}

extension OutboxHandler {
    /// The default terms.
    public var terms: OutboxTerms { OutboxTerms() }

    /// Returns `ready`: every entry is sent as it was accepted.
    public func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation { .ready }

    /// Does nothing.
    public func revised(_ entries: [OutboxEntry]) {}

    /// Returns `nil`, so that a write with a conflict is refused.
    public func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution? { nil }

    /// Returns whether a write matches one of the ``operations``.
    public func declares(_ write: OutboxWrite) -> Bool { operations.contains { $0.matches(write) } }
}

/// A handler's instruction for an entry that is about to be sent.
///
/// ```swift
/// func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation {
///     guard entry.acceptedAt.timeIntervalSinceNow < -86_400 else { return .ready }
///     return .refused(RepositoryError(.refused, request: "\(entry.write)", explanation: "is too old"))
/// }
/// ```
public enum OutboxPreparation: Hashable, Sendable {
    /// Sends the entry as it is.
    case ready
    /// Replaces the write in the entry with another one of the same subject, and sends that.
    case revised(OutboxWrite)
    /// Refuses the entry without sending it. It becomes a dead letter.
    case refused(RepositoryError)
}

/// A handler's decision about a write that conflicts with another version of the resource.
///
/// ```swift
/// func resolution(
///     of entry: OutboxEntry,
///     because error: RepositoryError
/// ) async throws(RecordStoreError) -> OutboxResolution? {
///     entry.write.method == .delete ? .dropped(.any) : .refused  // Keeps what others have changed.
/// }
/// ```
public enum OutboxResolution: Hashable, Sendable {
    /// Refuses the write. It becomes a dead letter.
    case refused
    /// Refuses the write. It becomes a dead letter with both versions, so that a user can decide later.
    case conflict(OutboxConflict)
    /// Lets the upstream's version win. The write is undone like a refused one, but does not become a dead letter. The
    /// associated value is that version: the next write of the subject is based on it.
    case dropped(OutboxWrite.Version)
    /// Sends another write of the same subject instead, with the ``OutboxWrite/revision`` raised by one.
    case revised(OutboxWrite)
}

/// An operation that an ``OutboxHandler`` allows: a method and a path pattern.
///
/// ```swift
/// import InwardFetching
///
/// let operations = [OutboxOperation(.post, "posts"), OutboxOperation(.put, "posts/*")]
/// ```
///
/// An ``Outbox`` accepts and sends only writes that match an operation of their endpoint. So a handler never receives a write
/// that it does not understand, and a damaged or foreign record cannot make the outbox send credentials to another path.
public struct OutboxOperation: Hashable, Sendable, CustomStringConvertible {
    /// The HTTP method.
    public let method: DataRequest.Method
    /// The path pattern, relative to the upstream. A component `*` matches any one component, as in `posts/*`.
    public let path: String

    /// Creates an operation.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The path pattern, relative to the upstream. A component `*` matches any one component.
    public init(_ method: DataRequest.Method, _ path: String) {
        self.method = method
        self.path = path
    }

    /// Returns whether a write has this method and a matching path.
    ///
    /// A path with an empty component, `.` or `..` never matches, because a server would resolve it to another path (RFC 3986
    /// section 5.2.4).
    public func matches(_ write: OutboxWrite) -> Bool {
        guard write.method == method else { return false }
        if path.isEmpty { return write.path.isEmpty }
        var expected = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        for component in write.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let pattern = expected.popFirst(), Self.isName(component) else { return false }
            guard pattern.elementsEqual("*".utf8) || pattern.elementsEqual(component) else { return false }
        }
        return expected.isEmpty
    }

    private static func isName(_ component: Substring.UTF8View) -> Bool {
        if component.isEmpty || component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) { return false }
        // Rejects backslashes, which some systems treat as separators, and control characters, which could corrupt logs and
        // headers.
        return component.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// The method and the path pattern: `PUT posts/*`.
    public var description: String { "\(method) \(path)" }
}

/// A handler's response to the outcome of a write: the changes to commit together with the removal of the write, and an action
/// to run after the commit.
///
/// ```swift
/// func settlement(ofReceiptFor id: Int) -> OutboxSettlement {
///     OutboxSettlement([.remove(["receipts", "\(id)"])]) { print("Receipt \(id) is delivered.") }
/// }
/// ```
public struct OutboxSettlement: Sendable {
    /// The changes to commit together with the removal of the write.
    public let changes: [RecordChange]
    /// Why the response cannot be used, as the end of a sentence, such as `names no identifier`, or `nil` if it can. The outbox
    /// reports it to the error handler.
    public let problem: String?
    /// Later entries of the subject, revised because of the outcome, for example to use the path of the created resource.
    public let revised: [OutboxEntry]
    /// Called once the changes are durable, for example to update a memory cache. It is called once, unless the process ends
    /// first, and must return quickly.
    public let whenCommitted: @Sendable () -> Void
    /// The number of members of the outbox when the settlement was made. It tells their handlers.
    var memberCount = 0

    /// Creates a settlement.
    ///
    /// - Parameters:
    ///   - changes: The changes to commit.
    ///   - problem: Why the response cannot be used, as the end of a sentence, or `nil` if it can.
    ///   - revised: Later entries of the subject, revised because of the outcome. Create them with
    ///     ``OutboxEntry/revised(to:)``.
    ///   - whenCommitted: Called once the changes are durable. Must return quickly.
    public init(
        _ changes: [RecordChange] = [],
        problem: String? = nil,
        revised: [OutboxEntry] = [],
        whenCommitted: @escaping @Sendable () -> Void = {}
    ) {
        self.changes = changes
        self.problem = problem
        self.revised = revised
        self.whenCommitted = whenCommitted
    }

    /// Combines the settlements of the handlers of one endpoint. They agree, so the revisions of the first one are enough.
    init(_ settlements: [OutboxSettlement], memberCount: Int) {
        self.init(
            settlements.flatMap(\.changes),
            problem: settlements.lazy.compactMap(\.problem).first,
            revised: settlements.first?.revised ?? []
        ) {
            for settlement in settlements { settlement.whenCommitted() }
        }
        self.memberCount = memberCount
    }
}

/// The undelivered entries of a subject that come after the one being settled.
///
/// ```swift
/// func visibleBody(after entry: OutboxEntry, before later: LaterEntries) -> [UInt8]? {
///     (later.all.last ?? entry).write.body  // Readers see the last pending write.
/// }
/// ```
///
/// They are collected each time ``all`` is read.
public struct LaterEntries: Sendable {
    private let collect: @Sendable () -> [OutboxEntry]

    /// The entries, in order.
    ///
    /// - Complexity: O(n) in the number of entries.
    public var all: [OutboxEntry] { collect() }

    /// Creates a list of entries, to test a handler.
    public init(_ entries: [OutboxEntry] = []) {
        self.init { entries }
    }

    init(_ collect: @escaping @Sendable () -> [OutboxEntry]) {
        self.collect = collect
    }
}

/// The handlers of an outbox, in groups. A group has at most one handler for each endpoint.
struct OutboxHandlers {
    private var groups: [(member: OutboxMember, handlers: [String: any OutboxHandler])] = []
    private var lastNumber = 0

    /// The number of groups that were ever added.
    var memberCount: Int { lastNumber }

    /// Creates an empty set of handlers.
    init() {}

    /// Creates a set of one group.
    init(_ handlers: [String: any OutboxHandler]) { _ = add(handlers) }

    /// Adds a group.
    ///
    /// - Returns: the member with which to remove the group.
    mutating func add(_ handlers: [String: any OutboxHandler]) -> OutboxMember {
        lastNumber += 1
        groups.append((OutboxMember(number: lastNumber), handlers))
        return OutboxMember(number: lastNumber)
    }

    /// Removes a group.
    ///
    /// - Returns: its handlers, which must be released outside of the lock, or `nil` if there is no such group.
    mutating func remove(_ member: OutboxMember) -> [String: any OutboxHandler]? {
        guard let place = groups.firstIndex(where: { $0.member == member }) else { return nil }
        return groups.remove(at: place).handlers
    }

    /// Returns the handlers of an endpoint, in the order of their groups.
    func all(for endpoint: String) -> [any OutboxHandler] { groups.compactMap { $0.handlers[endpoint] } }

    /// Returns why a write cannot be sent, or `nil` if a handler of its endpoint declares the operation.
    func objection(to write: OutboxWrite) -> UndeliverableEntryError.Reason? {
        var isSettled = false
        for group in groups {
            guard let handler = group.handlers[write.endpoint] else { continue }
            if handler.declares(write) { return nil }
            isSettled = true
        }
        return isSettled
            ? .undeclared(endpoint: write.endpoint, operation: OutboxOperation(write.method, write.path))
            : .unsettled(endpoint: write.endpoint)
    }

    /// Returns the operations that are declared for an endpoint.
    func operations(of endpoint: String) -> [OutboxOperation] { all(for: endpoint).flatMap(\.operations) }

    /// Whether there are no groups.
    var isEmpty: Bool { groups.isEmpty }

    /// Replaces the pending entries of each handler.
    ///
    /// - Parameters:
    ///   - entries: All pending entries.
    ///   - count: The ``memberCount`` after which the groups were added, or 0 for all groups.
    func reset(to entries: [OutboxEntry], after count: Int = 0) {
        let groups = groups.filter { $0.member.number > count }
        guard !groups.isEmpty else { return }
        let byEndpoint = Dictionary(grouping: entries, by: \.write.endpoint)
        for group in groups {
            for (endpoint, handler) in group.handlers.sorted(by: { $0.key < $1.key }) {
                handler.reset(to: (byEndpoint[endpoint] ?? []).filter { handler.declares($0.write) })
            }
        }
    }

    /// Adds pending entries to each handler that declares them.
    func tell(of entries: [OutboxEntry]) {
        if entries.count == 1, let entry = entries.first {
            for group in groups {
                guard let handler = group.handlers[entry.write.endpoint], handler.declares(entry.write) else {
                    continue
                }
                handler.accepted(entries)
            }
            return
        }
        let byEndpoint = Dictionary(grouping: entries, by: \.write.endpoint).sorted { $0.key < $1.key }
        for group in groups {
            for (endpoint, entries) in byEndpoint {
                guard let handler = group.handlers[endpoint] else { continue }
                let declared = entries.filter { handler.declares($0.write) }
                if !declared.isEmpty { handler.accepted(declared) }
            }
        }
    }
}

/// A group of handlers that has joined an ``Outbox``. To remove the handlers, pass it to ``Outbox/leave(_:)``.
///
/// ```swift
/// func share(_ outbox: Outbox, with second: Repository<Comment>) async throws {
///     let member = try await outbox.join(handlers: [second.handler])
///     print(try await second.entities().value.count)
///     outbox.leave(member)
/// }
/// ```
public struct OutboxMember: Hashable, Sendable {
    let number: Int
}
