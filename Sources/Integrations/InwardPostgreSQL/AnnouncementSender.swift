#if PostgreSQL
import Synchronization

/// Tells the listeners of all instances that there are new announcements.
///
/// A notification is a transaction of its own. As a part of a commit, it would make all commits of the database wait for each
/// other. While one is being sent, all further commits share the next one. If one is lost, the listeners read the announcements
/// a little later.
final class AnnouncementSender: Sendable {
    private let requests = Mutex(SharedRequests())

    /// Sends a notification on a connection of a pool. Does not wait for it.
    func send(on connections: ConnectionPool) {
        if requests.withLock({ $0.add() }) { start(on: connections) }
    }

    private func start(on connections: ConnectionPool) {
        // Queued again for each notification, so that commits that wait for a connection have their turn.
        connections.tryOnce(Statement(sql: "NOTIFY inward_announcements")) { [weak self, weak connections] in
            guard let self, let connections else { return }
            if requests.withLock({ $0.end() }) { start(on: connections) }
        }
    }
}

/// Requests for something that takes a while. Those that arrive meanwhile share the next time.
struct SharedRequests {
    private var isStarted = false
    private var isWanted = false

    /// Adds a request, and returns whether to start.
    mutating func add() -> Bool {
        isWanted = isStarted
        defer { isStarted = true }
        return !isStarted
    }

    /// Ends, and returns whether to start again.
    mutating func end() -> Bool {
        isStarted = isWanted
        isWanted = false
        return isStarted
    }
}
#endif
