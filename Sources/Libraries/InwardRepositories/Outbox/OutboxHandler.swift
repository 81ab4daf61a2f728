public import InwardCore
public import InwardFetching

/// Whoever turns what became of a write into what is kept: a repository, for an endpoint of its own.
///
/// An ``Outbox`` asks it for changes and commits them together with the end of the write. From when it asks until it has called
/// ``OutboxSettlement/whenCommitted`` no other write of that subject is accepted or settled, so that what a handler reads in the
/// store stays true until its changes are made.
///
/// Whose readers are to see what is not delivered yet shows the value of each entry that it is told of in ``accepted(_:)`` as
/// pending, in the order of ``OutboxEntry/sequence``, until the entry is settled: then the value of the upstream takes its place,
/// or what was there before. The entries that stand behind it are still pending then, and go on top of that.
public protocol OutboxHandler: Sendable {
    /// The name by which writes find it: the same from one version of the program to the next, because writes are kept with it.
    var endpoint: String { get }

    /// What writes of this endpoint may do. An outbox neither accepts nor sends any other.
    var operations: [OutboxOperation] { get }

    /// Is told which entries are pending, in their order, and that no others are: when the outbox is opened, and with none when
    /// another process has taken over, which then knows what becomes of them. It returns soon.
    ///
    /// - Parameter entries: All pending entries of this endpoint.
    func reset(to entries: [OutboxEntry])

    /// Is told of entries that are pending from now on, in their order: durable, and not delivered. It returns soon.
    ///
    /// - Parameter entries: Entries of this endpoint.
    func accepted(_ entries: [OutboxEntry])

    /// Says what is to be kept of a write that was done.
    ///
    /// It is asked again where its changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: What was done.
    ///   - answer: What the upstream said, with a status of success.
    ///   - later: The entries of the same subject that are not delivered yet, in their order.
    /// - Returns: the changes, and what to do then. Where the answer cannot be used, with
    ///   ``OutboxSettlement/problem``: the write was done all the same.
    /// - Throws: a ``RecordStoreError`` if the store that is needed to say so does not answer.
    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement

    /// Says what is to be kept where a write was refused for good: what there was before.
    ///
    /// It is asked again where its changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: What was refused.
    ///   - error: Why: with `RepositoryError.Reason.refused`, or with `notFound` if the upstream has nothing at that path. If
    ///     somebody discarded it, with `refused` too, or with `outcomeUnknown` if it may have been done.
    ///   - later: The entries of the same subject that are not delivered yet, in their order.
    /// - Returns: the changes, and what to do then.
    /// - Throws: a ``RecordStoreError`` if the store that is needed to say so does not answer.
    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement
}

extension OutboxHandler {
    /// Whether one of the ``operations`` is what a write asks for.
    func declares(_ write: OutboxWrite) -> Bool { operations.contains { $0.matches(write) } }
}

/// What an ``OutboxHandler`` lets writes do: a method, and the paths that it may be sent to.
///
///     OutboxOperation(.put, "posts/*")
///
/// An ``Outbox`` accepts and sends only writes that match an operation of their endpoint, so that a handler never meets a write
/// that it does not understand, and a damaged or foreign record never sends credentials elsewhere.
public struct OutboxOperation: Hashable, Sendable, CustomStringConvertible {
    /// How the write is sent.
    public let method: DataRequest.Method
    /// Where it is sent to, relative to the upstream. A component `*` stands for any one component: `posts/*`.
    public let path: String

    /// Declares a method and the paths it may be sent to.
    ///
    /// - Parameters:
    ///   - method: How the write is sent.
    ///   - path: Where it is sent to, relative to the upstream. A component `*` stands for any one component.
    public init(_ method: DataRequest.Method, _ path: String) {
        self.method = method
        self.path = path
    }

    /// Returns whether a write has this method and a path that matches.
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
        // No separator of another system, and nothing that a log or a header would show as something else.
        return component.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// The method and the paths: `PUT posts/*`.
    public var description: String { "\(method) \(path)" }
}

/// What a handler makes of the end of a write.
public struct OutboxSettlement: Sendable {
    /// What is changed in the store, together with the end of the write.
    public let changes: [RecordChange]
    /// Why the answer cannot be used, as the end of a sentence: `names no identity`; `nil` if it can. It is told to the error
    /// handler.
    public let problem: String?
    /// What is done as soon as the changes are durable, such as to put the value into the memory that readers ask first. It is
    /// called once, unless the process ends before, and returns soon.
    public let whenCommitted: @Sendable () -> Void

    /// Makes a settlement.
    ///
    /// - Parameters:
    ///   - changes: What is changed in the store.
    ///   - problem: Why the answer cannot be used, as the end of a sentence; `nil` if it can.
    ///   - whenCommitted: What is done as soon as the changes are durable.
    public init(
        _ changes: [RecordChange] = [],
        problem: String? = nil,
        whenCommitted: @escaping @Sendable () -> Void = {}
    ) {
        self.changes = changes
        self.problem = problem
        self.whenCommitted = whenCommitted
    }
}

/// The entries of a subject that follow one being settled, in their order. They are collected only if somebody asks for them.
public struct LaterEntries: Sendable {
    private let collect: @Sendable () -> [OutboxEntry]

    /// The entries, in their order.
    ///
    /// - Complexity: O(n) in their number.
    public var all: [OutboxEntry] { collect() }

    /// Makes a list of these entries, for a test of a handler.
    public init(_ entries: [OutboxEntry] = []) {
        self.init { entries }
    }

    init(_ collect: @escaping @Sendable () -> [OutboxEntry]) {
        self.collect = collect
    }
}

/// Who settles the writes of an outbox: groups, each with at most one for an endpoint.
struct OutboxHandlers {
    private var groups: [(member: OutboxMember, handlers: [String: any OutboxHandler])] = []
    private var lastNumber = 0

    /// Adds a group.
    ///
    /// - Returns: what it is removed by.
    mutating func add(_ handlers: [String: any OutboxHandler]) -> OutboxMember {
        lastNumber += 1
        groups.append((OutboxMember(number: lastNumber), handlers))
        return OutboxMember(number: lastNumber)
    }

    /// Removes a group.
    ///
    /// - Returns: its handlers, to be let go outside of a lock; `nil` if there is no such group.
    mutating func remove(_ member: OutboxMember) -> [String: any OutboxHandler]? {
        guard let place = groups.firstIndex(where: { $0.member == member }) else { return nil }
        return groups.remove(at: place).handlers
    }

    /// Those of an endpoint, in the order of their groups.
    func all(for endpoint: String) -> [any OutboxHandler] { groups.compactMap { $0.handlers[endpoint] } }

    /// Why a write is not sent; `nil` if somebody settles its endpoint and declares what it asks for.
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

    /// The operations that somebody declares for an endpoint.
    func operations(of endpoint: String) -> [OutboxOperation] { all(for: endpoint).flatMap(\.operations) }

    /// Whether there is nobody.
    var isEmpty: Bool { groups.isEmpty }

    /// Tells each all of its entries that are pending, in their order, and that no others are.
    func reset(to entries: [OutboxEntry]) {
        let byEndpoint = Dictionary(grouping: entries, by: \.write.endpoint)
        for group in groups {
            for (endpoint, handler) in group.handlers.sorted(by: { $0.key < $1.key }) {
                handler.reset(to: (byEndpoint[endpoint] ?? []).filter { handler.declares($0.write) })
            }
        }
    }

    /// Tells each of its entries, in their order.
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

/// Whoever has joined an ``Outbox`` with handlers, for leaving it.
public struct OutboxMember: Hashable, Sendable {
    let number: Int
}
