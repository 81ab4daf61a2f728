import InwardCore

/// The key of a session in a registry.
struct SessionKey: Hashable, Sendable {
    let user: String
    /// A text that distinguishes the user's sessions, such as the name of a device, or `nil` if there is only one.
    let key: String?
    /// Whether the session has no credentials. A guest can have the same name as a user.
    var isGuest = false

    /// The name of the session in messages, like the title of its scope.
    var title: String { "\(SessionLifetime.name) \(user.visible)\(key.map { " (\($0.visible))" } ?? "")" }
}

/// A session in a table.
protocol RegisteredSession: Sendable {
    /// Whether the session is neither closed nor closing.
    var isOpen: Bool { get }
    /// Whether requests of the session are in flight.
    var hasWork: Bool { get }
}

extension SessionScope: RegisteredSession {
    var hasWork: Bool { scope.hasWork }
}

/// The state machine of a registry: which sessions are open, in use, opening or closing. It only decides, and the registry
/// acts.
///
/// A session has a slot from the decision to open it until it is closed. If no slot is free, a new session waits for the slot
/// of a session that is closing.
struct SessionTable<Session: RegisteredSession> {
    /// A session to close.
    struct Departure {
        let number: Int
        let key: SessionKey
        /// The session, or `nil` if it is still opening.
        let session: Session?
        /// The reason if the registry closes the session on its own, or `nil` if a caller asked for it.
        var cause: Cause?
    }

    /// A reason for the registry to close a session on its own.
    enum Cause {
        case expired
        case evicted
    }

    /// What a caller that asks for a session must do next.
    enum Admission {
        /// The session is open. It is in use until it is released.
        case open(Session, number: Int)
        /// Wait until the session is open. It is then in use until it is released.
        case joins(number: Int)
        /// Close the given session, wait until the sessions with the given numbers are closed, and open the new session. It is
        /// in use until it is released.
        case opens(number: Int, closing: Departure?, after: [Int])
        /// All sessions are in use.
        case full
        case closed
    }

    private struct Entry {
        let number: Int
        var session: Session?
        var useCount = 1
        var place: PriorityQueue<Int, Unused>.ID?
    }

    private struct Unused {
        let key: SessionKey
        let since: Duration
    }

    private let limits: SessionLimits
    private var entries: [SessionKey: Entry] = [:]
    /// The open sessions that are not in use, the least recently used first.
    private var unused = PriorityQueue<Int, Unused>()
    /// The numbers of the closing sessions whose slots no new session waits for.
    private var freeing: Set<Int> = []
    /// The number of the closing session of each key, the latest if there are several.
    private var departing: [SessionKey: Int] = [:]
    private var slotCount = 0
    private var lastNumber = 0
    private var lastUse = 0
    private var isClosed = false
    private var counts = SessionRegistryStatus()

    init(_ limits: SessionLimits) {
        self.limits = limits
    }

    var status: SessionRegistryStatus {
        var status = counts
        status.openingCount = entries.count - counts.openCount
        status.inUseCount = counts.openCount - unused.count
        return status
    }

    /// The time at which the least recently used session expires, or `nil` if all are in use.
    var nextExpiry: Duration? { unused.first.map { $0.element.since + limits.idleTime } }

    // MARK: Use

    /// Decides how a caller gets a session.
    mutating func admit(_ key: SessionKey, at now: Duration) -> Admission {
        guard !isClosed else { return .closed }
        var closing: Departure?
        if let index = entries.index(forKey: key) {
            let (number, session) = (entries.values[index].number, entries.values[index].session)
            if session?.isOpen == false {
                // A caller closed the session without signing out.
                closing = depart(key)
            } else {
                entries.values[index].useCount += 1
                if let place = entries.values[index].place { _ = unused.remove(place) }
                entries.values[index].place = nil
                return session.map { .open($0, number: number) } ?? .joins(number: number)
            }
        }
        // A session opens only after the earlier session of the same key is closed.
        var after = departing[key].map { [$0] } ?? []
        if let earlier = after.first, freeing.remove(earlier) != nil {
            // Takes the slot of the earlier session.
        } else if slotCount < limits.count {
            slotCount += 1
        } else if let evicted = evict(at: now) {
            freeing.remove(evicted.number)
            after.append(evicted.number)
            closing = evicted
        } else if let next = freeing.popFirst() {
            after.append(next)
        } else {
            counts.rejected += 1
            return .full
        }
        lastNumber += 1
        entries[key] = Entry(number: lastNumber)
        return .opens(number: lastNumber, closing: closing, after: after)
    }

    /// Ends one use of a session.
    mutating func release(_ key: SessionKey, number: Int, at now: Duration) {
        guard let index = entries.index(forKey: key), entries.values[index].number == number else { return }
        entries.values[index].useCount -= 1
        if entries.values[index].useCount == 0, entries.values[index].session != nil { wait(key, at: now) }
    }

    // MARK: Opening

    /// Stores a session that was opened.
    ///
    /// - Returns: `true` if callers may use the session, or `false` if it must be closed.
    mutating func opened(_ session: Session, _ key: SessionKey, number: Int, at now: Duration) -> Bool {
        guard let entry = entries[key], entry.number == number else { return false }
        entries[key]?.session = session
        counts.openCount += 1
        counts.opened += 1
        if entry.useCount == 0 { wait(key, at: now) }
        return true
    }

    /// Removes a session that could not be opened.
    mutating func failed(_ key: SessionKey, number: Int) {
        guard entries[key]?.number == number else { return }
        entries[key] = nil
        slotCount -= 1
    }

    // MARK: Closing

    /// Removes the sessions whose idle time has passed, and returns them for closing.
    mutating func expire(at now: Duration) -> [Departure] {
        var departures: [Departure] = []
        // The loop ends, because a session that cannot be removed gets a later expiry.
        while let nextExpiry, nextExpiry <= now {
            guard var departure = takeUnused(at: now) else { continue }
            counts.expired += 1
            departure.cause = .expired
            departures.append(departure)
        }
        return departures
    }

    /// Removes a session.
    ///
    /// - Returns: The session to close, or `nil` if it is unknown or already closing.
    mutating func depart(_ key: SessionKey) -> Departure? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        if let place = entry.place { _ = unused.remove(place) }
        if entry.session != nil { counts.openCount -= 1 }
        counts.closingCount += 1
        departing[key] = entry.number
        freeing.insert(entry.number)
        return Departure(number: entry.number, key: key, session: entry.session)
    }

    /// Removes all sessions, returns them for closing, and admits no others.
    mutating func close() -> [Departure] {
        isClosed = true
        return Array(entries.keys).compactMap { depart($0) }
    }

    /// Records that a session is closed, and frees its slot unless a new session waits for it.
    mutating func departed(_ departure: Departure) {
        counts.closingCount -= 1
        if departing[departure.key] == departure.number { departing[departure.key] = nil }
        if freeing.remove(departure.number) != nil { slotCount -= 1 }
    }

    /// Returns the keys of a user's sessions, including those that are closing.
    func keys(of user: String) -> Set<SessionKey> {
        Set(entries.keys.filter { $0.user == user } + departing.keys.filter { $0.user == user })
    }

    /// Returns the number of the closing session of a key, or `nil` if there is none.
    func departing(_ key: SessionKey) -> Int? { departing[key] }

    private mutating func evict(at now: Duration) -> Departure? {
        for _ in 0..<unused.count {
            guard var departure = takeUnused(at: now) else { continue }
            counts.evicted += 1
            departure.cause = .evicted
            return departure
        }
        return nil
    }

    /// Removes the least recently used session, or restarts its idle time if its requests are in flight.
    private mutating func takeUnused(at now: Duration) -> Departure? {
        guard let key = unused.popFirst()?.key else { return nil }
        guard entries[key]?.session?.hasWork != true else {
            wait(key, at: now)
            return nil
        }
        return depart(key)
    }

    /// Starts the idle time of a session.
    private mutating func wait(_ key: SessionKey, at now: Duration) {
        lastUse += 1
        entries[key]?.place = unused.insert(Unused(key: key, since: now), at: lastUse)
    }
}
