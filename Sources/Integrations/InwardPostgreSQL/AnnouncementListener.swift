#if PostgreSQL
import Foundation
import InwardRepositories
import Synchronization

/// Reads the announcements of all instances, and passes them on to the listeners of a store.
///
/// While somebody listens, it has a connection and a thread of its own. It reads after each notification of the server. Because
/// a notification can be lost with the process that was to send it, it also reads at regular intervals.
final class AnnouncementListener: Sendable {
    /// How long the server may take to answer. Then the connection counts as lost.
    private static let readLimit = Duration.seconds(5)

    private let settings: PoolSettings
    private let pollInterval: Duration
    private let hub: RecordAnnouncementHub
    private let waker = Waker()
    private let isRunning = Mutex(false)

    /// Creates a listener without a connection.
    ///
    /// - Parameters:
    ///   - settings: The settings of connections.
    ///   - pollInterval: How long the listener waits for a notification until it reads without one.
    init(_ settings: PoolSettings, pollInterval: Duration) {
        self.settings = settings
        self.pollInterval = pollInterval
        hub = RecordAnnouncementHub(isListening: false, whenUnused: { [waker] in waker.wake() })
    }

    /// Returns the announcements about a key, and connects if nobody has listened so far.
    func announcements(under key: RecordKey) -> RecordAnnouncements {
        let announcements = hub.announcements(under: key)
        let isNew = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        if isNew { Thread.detachNewThread { self.run() } }
        return announcements
    }

    /// Ends all announcements and the connection.
    func close() { hub.close() }

    /// Listens until nobody needs it any more.
    private func run() {
        var made: ServerConnection?
        while made == nil {
            if isOver() { return }
            made = Interruption().flatMap {
                ServerConnection(settings.info, application: settings.application, $0, settings.reachability)
            }
            // Out of file descriptors or memory: try again in a second.
            if made == nil { Thread.sleep(forTimeInterval: 1) }
        }
        guard let connection = made else { return }
        waker.set(connection.interruption)
        var pause = PoolSettings.pauses.first
        while !isOver() {
            do throws(ServerError) {
                try settings.connect(connection, until: .now + settings.timeLimit)
                var cursor = AnnouncementCursor()
                try listen(on: connection, from: &cursor)
                pause = PoolSettings.pauses.first
                // When it returns, nobody listens, and a new listener may have started another thread already.
                return try follow(on: connection, from: &cursor)
            } catch {
                connection.disconnect()
                hub.loseTrack()
                if error == .interrupted { continue }
                connection.idle(for: pause)
                pause = min(pause * 2, PoolSettings.pauses.last)
            }
        }
    }

    /// Returns whether nobody listens. Then a new listener starts another thread.
    private func isOver() -> Bool {
        isRunning.withLock { isRunning in
            guard hub.endListeningIfUnused() else { return false }
            waker.set(nil)
            isRunning = false
            return true
        }
    }

    /// Lets the server send notifications, and finds the beginning of what is announced.
    private func listen(
        on connection: ServerConnection,
        from cursor: inout AnnouncementCursor
    ) throws(ServerError) {
        _ = try connection.run([Statement(sql: "LISTEN inward_announcements")], within: Self.readLimit)
        // From here on, no announcement is lost. The hub reports those before.
        _ = try read(on: connection, from: &cursor)
        hub.beginListening()
    }

    /// Passes announcements on until nobody listens.
    private func follow(
        on connection: ServerConnection,
        from cursor: inout AnnouncementCursor
    ) throws(ServerError) {
        while !isOver() {
            // A notification that arrived during a read does not end a wait.
            if !connection.takeNotifications() {
                connection.idle(for: pollInterval)
                _ = connection.takeNotifications()
            }
            guard connection.isConnected else { throw .lost("the server has closed it") }
            if let keys = try read(on: connection, from: &cursor) {
                hub.announce(keys)
            } else {
                hub.announceAnything()
            }
        }
    }

    private func read(
        on connection: ServerConnection,
        from cursor: inout AnnouncementCursor
    ) throws(ServerError) -> [RecordKey]? {
        let time = ContinuousClock.now
        let rows = try connection.run([cursor.statement], within: Self.readLimit, isInterruptible: false)
        return cursor.keys(in: rows.first ?? [], readAt: time)
    }
}

/// Finds the announcements that were not read before.
///
/// Transactions end in another order than they begin in, so the numbers of rows do not say which rows are new. Each row
/// therefore has the identifier of its transaction. A read also returns the oldest identifier of a transaction that has not
/// ended (`xmin`). All older ones have ended, so their rows were there to be read, and no more will appear. The next read
/// begins with this identifier, and leaves out the rows that were read already.
struct AnnouncementCursor {
    /// The maximum number of rows that are read at a time.
    static let rowLimit = 10_000
    /// The longest time between two reads. Rows are removed when they are much older.
    static let longestPause = Duration.seconds(60)

    /// The oldest transaction that had not ended at the last read. Before the first read, it is one that does not exist.
    private var oldest = Int64.max
    /// The numbers of the rows that were read last.
    private var known: Set<Int64> = []
    private var lastRead: ContinuousClock.Instant?

    /// The statement that reads the rows.
    var statement: Statement { Statement(.readAnnouncements, [.integer(oldest), .integer(Int64(Self.rowLimit))]) }

    /// Returns the keys of the new rows among those that were read, or `nil` if rows may be missing.
    mutating func keys(in rows: [Row], readAt time: ContinuousClock.Instant) -> [RecordKey]? {
        let isLate = lastRead.map { time - $0 > Self.longestPause } ?? false
        let numbers = rows.compactMap { $0.integer(1) }
        let new = rows.filter { row in row.integer(1).map { !known.contains($0) } ?? false }
        let keys = new.compactMap { row in row.bytes(2).flatMap { RecordKey(encoded: $0) } }
        oldest = rows.first?.integer(0) ?? oldest
        known = Set(numbers)
        lastRead = time
        return isLate || rows.count >= Self.rowLimit || keys.count < new.count ? nil : keys
    }
}
#endif
