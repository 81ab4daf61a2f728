import Synchronization

/// What a ``SharedRecordStore`` announces to its instances.
///
/// ```swift
/// func update(_ cache: inout [RecordKey: StoredRecord], after announcement: RecordAnnouncement) {
///     switch announcement {
///     case .changed(let key): cache = cache.filter { !key.contains($0.key) }
///     case .anythingMayHaveChanged: cache = [:]
///     }
/// }
/// ```
public enum RecordAnnouncement: Hashable, Sendable {
    /// A commit with ``RecordChange/announce(_:)`` was made. Something may have changed under its key, which is the key of the
    /// sequence, begins with it, or is a prefix of it.
    case changed(RecordKey)
    /// Announcements may have been lost, so anything under the key of the sequence may have changed.
    case anythingMayHaveChanged
}

/// The announcements of a store about a key, from all instances that the store reaches, including its own.
///
/// ```swift
/// func followUsers(in store: any SharedRecordStore) async {
///     for await announcement in store.announcements(under: ["users"]) {
///         switch announcement {
///         case .changed(let key): print("Read \(key) again.")
///         case .anythingMayHaveChanged: print("Read all users again.")
///         }
///     }
/// }
/// ```
///
/// **Beginning.** The first element is always ``RecordAnnouncement/anythingMayHaveChanged``. It means that the store now
/// listens: every later commit is announced. A store in this process listens at once, and one on a server as soon as it has
/// reached it. Empty a cache at this element, and fill it afterwards.
///
/// **Order.** An announcement arrives after its commit was made, so a read finds the change. The announcements of a caller that
/// makes one commit after the other arrive in the order of the commits. An announcement can arrive twice.
///
/// **Races.** A read that began before an announcement can return the old record. Do not put its result into a cache if an
/// announcement about its key has arrived in the meantime.
///
/// **Slow readers.** Up to 1,000 different keys wait to be read. A key that is announced again while it waits is reported once.
/// If there are more, ``RecordAnnouncement/anythingMayHaveChanged`` takes the place of all of them.
///
/// **Lost connections.** A store that loses its server reports ``RecordAnnouncement/anythingMayHaveChanged`` at once, and again
/// when it listens again. Until then it announces nothing.
///
/// **End.** The sequence ends when the store is closed or released, or when the task that iterates over it is cancelled.
/// Iterators share its elements, so use one. Releasing the sequence and its iterator ends listening.
public struct RecordAnnouncements: AsyncSequence, Sendable {
    /// The sequence does not fail.
    public typealias Failure = Never

    private let mailbox: RecordMailbox
    private let signals: AsyncStream<Void>

    fileprivate init(_ mailbox: RecordMailbox, _ signals: AsyncStream<Void>) {
        self.mailbox = mailbox
        self.signals = signals
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(mailbox, signals.makeAsyncIterator()) }

    /// An iterator over the announcements.
    public struct Iterator: AsyncIteratorProtocol {
        /// The iterator does not fail.
        public typealias Failure = Never

        private let mailbox: RecordMailbox
        private var signals: AsyncStream<Void>.Iterator

        fileprivate init(_ mailbox: RecordMailbox, _ signals: AsyncStream<Void>.Iterator) {
            self.mailbox = mailbox
            self.signals = signals
        }

        /// Waits for the next announcement.
        ///
        /// - Returns: the announcement, or `nil` if the store was closed or the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RecordAnnouncement? {
            while !Task.isCancelled {
                if let announcement = mailbox.popFirst() { return announcement }
                // A signal can be one of announcements that were read already.
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
            return nil
        }

        /// Waits for the next announcement.
        ///
        /// - Returns: the announcement, or `nil` if the store was closed or the task was cancelled.
        public mutating func next() async -> RecordAnnouncement? { await next(isolation: #isolation) }
    }
}

/// Passes the announcements of a store to everybody who listens in this process.
package final class RecordAnnouncementHub: Sendable {
    private struct State {
        var mailboxes: [Int: RecordMailbox] = [:]
        var lastNumber = 0
        var isListening: Bool
        var isClosed = false
    }

    private let state: Mutex<State>
    private let whenUnused: @Sendable () -> Void

    /// Creates a hub.
    ///
    /// - Parameters:
    ///   - isListening: Whether the hub gets all announcements from now on, or only after ``beginListening()``.
    ///   - whenUnused: Called when nobody listens any more.
    package init(isListening: Bool = true, whenUnused: @escaping @Sendable () -> Void = {}) {
        state = Mutex(State(isListening: isListening))
        self.whenUnused = whenUnused
    }

    deinit { close() }

    /// Returns the announcements about a key from now on.
    package func announcements(under key: RecordKey) -> RecordAnnouncements {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let mailbox = RecordMailbox(key, continuation)
        let number: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if state.isListening { mailbox.addAnything() }
            state.lastNumber += 1
            state.mailboxes[state.lastNumber] = mailbox
            return state.lastNumber
        }
        if let number {
            continuation.onTermination = { [weak self] _ in self?.remove(number) }
        } else {
            continuation.finish()
        }
        return RecordAnnouncements(mailbox, signals)
    }

    /// Announces the keys that a commit announces. Call it after the commit was made.
    package func announce(in changes: [RecordChange]) {
        announce(changes.compactMap { if case .announce(let key) = $0 { key } else { nil } })
    }

    /// Announces keys.
    package func announce(_ keys: [RecordKey]) {
        guard !keys.isEmpty else { return }
        for mailbox in state.withLock({ Array($0.mailboxes.values) }) { mailbox.add(keys) }
    }

    /// Reports that anything may have changed.
    package func announceAnything() {
        for mailbox in state.withLock({ Array($0.mailboxes.values) }) { mailbox.addAnything() }
    }

    /// Reports that the hub gets all announcements from now on.
    package func beginListening() {
        state.withLock { $0.isListening = true }
        announceAnything()
    }

    /// Reports that announcements may be lost from now on, until ``beginListening()``. Does nothing if the hub was not
    /// listening.
    package func loseTrack() {
        let wasListening = state.withLock { state in
            defer { state.isListening = false }
            return state.isListening
        }
        if wasListening { announceAnything() }
    }

    /// Stops listening if nobody listens, and returns whether that is so.
    package func endListeningIfUnused() -> Bool {
        state.withLock { state in
            guard state.mailboxes.isEmpty else { return false }
            state.isListening = false
            return true
        }
    }

    /// Ends all sequences, and those that are created later.
    package func close() {
        let mailboxes = state.withLock { state in
            state.isClosed = true
            defer { state.mailboxes = [:] }
            return state.mailboxes.values
        }
        // Without the lock, which the end of a sequence takes.
        for mailbox in mailboxes { mailbox.finish() }
        if !mailboxes.isEmpty { whenUnused() }
    }

    private func remove(_ number: Int) {
        let isUnused = state.withLock { $0.mailboxes.removeValue(forKey: number) != nil && $0.mailboxes.isEmpty }
        if isUnused { whenUnused() }
    }
}

/// The announcements that wait to be read from a sequence.
private final class RecordMailbox: Sendable {
    private let key: RecordKey
    private let buffer = Mutex(RecordAnnouncementBuffer())
    private let signals: AsyncStream<Void>.Continuation

    init(_ key: RecordKey, _ signals: AsyncStream<Void>.Continuation) {
        self.key = key
        self.signals = signals
    }

    func add(_ keys: [RecordKey]) {
        let keys = keys.filter { key.contains($0) || $0.contains(key) }
        guard !keys.isEmpty else { return }
        buffer.withLock { buffer in
            for key in keys { buffer.add(key) }
        }
        signals.yield()
    }

    func addAnything() {
        buffer.withLock { $0.addAnything() }
        signals.yield()
    }

    func popFirst() -> RecordAnnouncement? { buffer.withLock { $0.popFirst() } }

    func finish() { signals.finish() }
}

/// Announcements in their order, each once. If there are too many, a single one takes their place.
struct RecordAnnouncementBuffer: Sendable {
    /// The maximum number of keys.
    static let keyLimit = 1_000

    private var hasOverflowed = false
    private var keys = FIFOQueue<RecordKey>()
    private var known: Set<RecordKey> = []

    /// Adds a key, unless it waits already.
    mutating func add(_ key: RecordKey) {
        guard !hasOverflowed, known.insert(key).inserted else { return }
        if known.count > Self.keyLimit { return addAnything() }
        keys.append(key)
    }

    /// Replaces all announcements, because anything may have changed.
    mutating func addAnything() {
        self = Self()
        hasOverflowed = true
    }

    /// Removes the first announcement and returns it, or `nil` if none waits.
    mutating func popFirst() -> RecordAnnouncement? {
        if hasOverflowed {
            hasOverflowed = false
            return .anythingMayHaveChanged
        }
        guard let key = keys.popFirst() else { return nil }
        known.remove(key)
        return .changed(key)
    }
}
