public import InwardCore
public import InwardFetching

/// Settles the writes of one endpoint: it translates the outcome of each write into changes of the store.
///
/// An ``Outbox`` asks the handler for changes and commits them together with the removal of the write. From that call until
/// ``OutboxSettlement/whenCommitted`` has run, no other write of the subject is accepted or settled, so what the handler reads from
/// the store stays valid until its changes are committed.
///
/// To show pending values to readers, a handler adds the value of each entry it receives in ``accepted(_:)``, in the order of
/// ``OutboxEntry/sequence``. When an entry is settled, the handler replaces its value with the upstream's, or with the previous one
/// if the write was refused. Later entries are still pending at that time and are shown on top.
public protocol OutboxHandler: Sendable {
    /// The name by which writes refer to this handler. It must not change between versions of the program, because writes are
    /// stored with it.
    var endpoint: String { get }

    /// The operations that writes of this endpoint may perform. The outbox does not accept or send any others.
    var operations: [OutboxOperation] { get }

    /// Replaces the pending entries. The outbox calls it when it is opened, and with an empty array when another process has taken
    /// over and will settle the entries. Must return quickly.
    ///
    /// - Parameter entries: All pending entries of this endpoint, in order.
    func reset(to entries: [OutboxEntry])

    /// Adds pending entries: they are durable but not delivered. Must return quickly.
    ///
    /// - Parameter entries: New entries of this endpoint, in order.
    func accepted(_ entries: [OutboxEntry])

    /// Returns what to send for the first entry of its subject, which has not been sent before in this form.
    ///
    /// - Parameter entry: The entry.
    /// - Returns: what to do with it, which by default is to send it.
    /// - Throws: a ``RecordStoreError`` if that is not known now. The entry is prepared again later.
    func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation

    /// Shows pending entries whose content has changed, because this handler prepared them or resolved a conflict. Must return
    /// quickly. The default does nothing.
    ///
    /// - Parameter entries: Entries that the handler was told of.
    func revised(_ entries: [OutboxEntry])

    /// Returns what becomes of a write that the upstream refused because it has another version of the resource.
    ///
    /// - Parameters:
    ///   - entry: The entry. No attempt was done, unless an earlier one was and caused the conflict.
    ///   - error: The refusal, `RepositoryError.Reason.conflict`.
    /// - Returns: the decision; `nil` if this handler has none, which is the default. Without any, the write is refused, and the
    ///   refusal counts towards a pause.
    /// - Throws: a ``RecordStoreError`` if the decision cannot be made now. The entry is sent again later.
    func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution?

    /// Returns whether a write of this endpoint may be accepted and sent. By default, it matches one of the ``operations``.
    func declares(_ write: OutboxWrite) -> Bool

    /// Returns the changes to make for a delivered write.
    ///
    /// It is called again if the changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: The delivered entry.
    ///   - answer: The upstream's response, with a success status, or 404 or 410 to a `DELETE`.
    ///   - later: The undelivered entries of the same subject that follow, in order.
    /// - Returns: the changes, and an action to run after the commit. If the response cannot be used, set
    ///   ``OutboxSettlement/problem``: the write counts as done.
    /// - Throws: a ``RecordStoreError`` if a store that the handler needs does not answer.
    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement

    /// Returns the changes to make for a write that was refused for good: those that restore the previous value.
    ///
    /// It is called again if the changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: The refused entry.
    ///   - error: The refusal: `RepositoryError.Reason.refused`, `notFound` if nothing exists at the path, or `conflict` if the
    ///     upstream has another version. If the write was discarded, `refused`, or `outcomeUnknown` if an attempt may have been
    ///     done.
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
    /// Returns `ready`: every entry is sent as it was accepted.
    public func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation { .ready }

    /// Does nothing.
    public func revised(_ entries: [OutboxEntry]) {}

    /// Returns `nil`: what conflicts is refused.
    public func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution? { nil }

    /// Returns whether a write matches one of the ``operations``.
    public func declares(_ write: OutboxWrite) -> Bool { operations.contains { $0.matches(write) } }
}

/// What to do with an entry that is about to be sent.
public enum OutboxPreparation: Hashable, Sendable {
    /// It is sent as it is.
    case ready
    /// Another write of the same subject is stored in its place, and sent.
    case revised(OutboxWrite)
    /// It is refused without being sent, and becomes a dead letter.
    case refused(RepositoryError)
}

/// What becomes of a write that the upstream refused because it has another version of the resource.
public enum OutboxResolution: Hashable, Sendable {
    /// The write is refused, and becomes a dead letter.
    case refused
    /// The write is refused, and becomes a dead letter with both versions, for somebody to decide later.
    case conflict(OutboxConflict)
    /// The upstream's version wins. The write is undone like a refused one, but does not become a dead letter. The next write of
    /// the subject is sent for that version.
    case dropped(OutboxWrite.Version)
    /// The write is sent again as another one of the same subject, with its ``OutboxWrite/revision`` raised by one.
    case revised(OutboxWrite)
}

/// An operation that an ``OutboxHandler`` allows: a method and a path pattern.
///
///     OutboxOperation(.put, "posts/*")
///
/// An ``Outbox`` accepts and sends only writes that match an operation of their endpoint. So a handler never receives a write that
/// it does not understand, and a damaged or foreign record cannot send credentials elsewhere.
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
    /// Paths with an empty component, `.` or `..` never match, because they lead elsewhere (RFC 3986 section 5.2.4).
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
        // Rejects the separators of other systems, and control characters, which logs and headers would misrepresent.
        return component.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// The method and the path pattern: `PUT posts/*`.
    public var description: String { "\(method) \(path)" }
}

/// The changes and actions with which a handler settles a write.
public struct OutboxSettlement: Sendable {
    /// The changes to commit together with the removal of the write.
    public let changes: [RecordChange]
    /// Why the response cannot be used, as the end of a sentence: `names no identity`; `nil` if it can. The outbox reports it to
    /// the error handler.
    public let problem: String?
    /// Later entries of the subject with changes that follow from the outcome, such as the path of what was just created.
    public let revised: [OutboxEntry]
    /// Called once the changes are durable, for example to update a memory cache. It is called once, unless the process ends first,
    /// and must return quickly.
    public let whenCommitted: @Sendable () -> Void

    /// Creates a settlement.
    ///
    /// - Parameters:
    ///   - changes: The changes to commit.
    ///   - problem: Why the response cannot be used, as the end of a sentence; `nil` if it can.
    ///   - revised: Later entries of the subject with changes that follow from the outcome. Create them with
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
}

/// The entries of a subject that follow the one being settled, in order. They are collected on demand.
public struct LaterEntries: Sendable {
    private let collect: @Sendable () -> [OutboxEntry]

    /// The entries, in order.
    ///
    /// - Complexity: O(n) in the number of entries.
    public var all: [OutboxEntry] { collect() }

    /// Creates a list of entries, for testing a handler.
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
    /// - Returns: its handlers, which must be released outside of the lock; `nil` if there is no such group.
    mutating func remove(_ member: OutboxMember) -> [String: any OutboxHandler]? {
        guard let place = groups.firstIndex(where: { $0.member == member }) else { return nil }
        return groups.remove(at: place).handlers
    }

    /// Returns the handlers of an endpoint, in the order of their groups.
    func all(for endpoint: String) -> [any OutboxHandler] { groups.compactMap { $0.handlers[endpoint] } }

    /// Returns why a write cannot be sent; `nil` if a handler of its endpoint declares the operation.
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
    func reset(to entries: [OutboxEntry]) {
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

/// A group of handlers that has joined an ``Outbox``. Pass it to the outbox to leave.
public struct OutboxMember: Hashable, Sendable {
    let number: Int
}
