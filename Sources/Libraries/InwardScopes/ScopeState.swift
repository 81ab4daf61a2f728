/// The state of a scope: its phase, and everything that must end before it is closed.
///
/// It is the same type for every scope, without the objects, so that the compiler specializes it.
struct ScopeState {
    private enum Phase {
        case opening
        case open
        case closing(Task<[ScopeCloseError.Failure], Never>)
        case closed(Task<[ScopeCloseError.Failure], Never>?)
    }

    private var phase: Phase
    private(set) var closers: [ScopeOpening.Closer] = []
    private var children: [ObjectIdentifier: (place: Int, scope: any InnerScope)] = [:]
    private var work = WorkByPlace()
    private var nextPlace = 0
    private(set) var failures: [ScopeCloseError.Failure] = []
    /// Whether the scope rejects new child scopes, because it is about to be closed.
    private(set) var isShuttingDown = false

    init(isOpen: Bool) {
        phase = isOpen ? .open : .opening
    }

    /// Ends the opening of the scope, which may have been closed meanwhile.
    ///
    /// - Parameters:
    ///   - succeeded: Whether the objects were created.
    ///   - closers: The closers of the objects registered so far.
    /// - Returns: The resulting state. If the scope is closing, the state contains the task that closes these objects too.
    mutating func endOpening(succeeded: Bool, closers: [ScopeOpening.Closer]) -> OpeningOutcome {
        switch phase {
        case .opening, .open:
            phase = succeeded ? .open : .closed(nil)
            if succeeded { self.closers = closers }
            return succeeded ? .open : .closed
        case .closing(let task):
            self.closers = closers
            return .closing(task)
        case .closed:
            return .closed
        }
    }

    /// The state of a scope at the end of its opening.
    enum OpeningOutcome {
        case open
        case closing(Task<[ScopeCloseError.Failure], Never>)
        case closed
    }

    var isOpen: Bool { if case .open = phase { true } else { false } }

    var phaseName: String {
        switch phase {
        case .opening: "opening"
        case .open: "open"
        case .closing: "closing"
        case .closed: "closed"
        }
    }

    var childrenNewestFirst: [any InnerScope] {
        children.values.sorted { $0.place > $1.place }.map(\.scope)
    }

    var workNewestFirst: [any RunningWork] { work.newestFirst }

    /// Whether work is in flight.
    var hasWork: Bool { !work.isEmpty }

    /// Rejects new child scopes from now on.
    mutating func stopAdopting() { isShuttingDown = true }

    /// Adds a child scope. Returns `false` if this scope is not open or is shutting down.
    mutating func adopt(_ scope: any InnerScope) -> Bool {
        guard isOpen, !isShuttingDown else { return false }
        children[ObjectIdentifier(scope)] = (takePlace(), scope)
        return true
    }

    mutating func release(_ scope: any InnerScope) {
        children[ObjectIdentifier(scope)] = nil
    }

    /// Tracks a piece of work until it has ended, and returns its place.
    mutating func begin(_ task: any RunningWork) -> Int {
        let place = takePlace()
        work.insert(task, at: place)
        return place
    }

    /// Removes a piece of work that has ended. Returns `false` if the scope closed without waiting for it.
    mutating func end(_ place: Int) -> Bool {
        work.remove(at: place)
        return if case .closed = phase { false } else { true }
    }

    mutating func note(_ failures: [ScopeCloseError.Failure]) {
        self.failures += failures
    }

    /// Closes the scope if it has nothing to wait for. Returns `false` if it must wait.
    mutating func closeIfEmpty() -> Bool {
        guard isOpen, children.isEmpty, work.isEmpty, closers.isEmpty else { return false }
        phase = .closed(nil)
        return true
    }

    /// Returns the task that closes the scope, and creates it if this is the first call.
    mutating func startClosing(
        by makeTask: () -> Task<[ScopeCloseError.Failure], Never>
    ) -> Task<[ScopeCloseError.Failure], Never> {
        switch phase {
        case .opening, .open:
            let task = makeTask()
            phase = .closing(task)
            return task
        case .closing(let task): return task
        case .closed(let task): return task ?? Task { [] }
        }
    }

    /// Enters the closed phase, and returns the closers to release.
    mutating func close() -> [ScopeOpening.Closer] {
        guard case .closing(let task) = phase else { return [] }
        defer { closers = [] }
        phase = .closed(task)
        return closers
    }

    private mutating func takePlace() -> Int {
        defer { nextPlace += 1 }
        return nextPlace
    }
}

/// The pieces of work of a scope by their places. Most scopes have at most one at a time, which needs no dictionary.
private struct WorkByPlace {
    private struct Piece {
        let place: Int
        let work: any RunningWork
    }

    private var single: Piece?
    private var others: [Int: any RunningWork] = [:]

    var isEmpty: Bool { single == nil && others.isEmpty }

    var newestFirst: [any RunningWork] {
        let pieces = others.map { Piece(place: $0.key, work: $0.value) } + (single.map { [$0] } ?? [])
        return pieces.sorted { $0.place > $1.place }.map(\.work)
    }

    mutating func insert(_ work: any RunningWork, at place: Int) {
        if single == nil { single = Piece(place: place, work: work) } else { others[place] = work }
    }

    mutating func remove(at place: Int) {
        if single?.place == place { single = nil } else { others[place] = nil }
    }
}

/// A piece of work that a scope cancels and waits for when it closes.
@usableFromInline
protocol RunningWork: Sendable {
    func cancel()
    /// Waits until the work has ended.
    func end() async
    /// Whether a graceful shutdown waits for the work to end on its own.
    var isAwaited: Bool { get }
}

extension RunningWork {
    @usableFromInline var isAwaited: Bool { true }
}

/// A sleep between two pieces of work, which a graceful shutdown does not wait for.
struct IdleWork: RunningWork {
    let task: Task<Void, Never>

    var isAwaited: Bool { false }

    func cancel() { task.cancel() }

    func end() async { await task.value }
}

extension Task: RunningWork where Failure == Never {
    @usableFromInline
    func end() async { _ = await value }
}

/// A piece of work that a scope waits for, and the title of the scope.
struct WorkInFlight: Sendable {
    let scope: String
    let work: any RunningWork
}

/// The interface of a scope that its enclosing scope uses.
protocol InnerScope: AnyObject, Sendable {
    /// Starts closing the scope, unless it already has, and returns a task with the failures.
    func startClosing() -> Task<[ScopeCloseError.Failure], Never>

    /// The scope's lifetime and name.
    var title: String { get }

    /// The work in flight in the scope and in the scopes inside it.
    var workInFlight: [WorkInFlight] { get }

    /// Describes the scope and its contents.
    func tree(seenFrom outer: ObjectNames) -> ScopeTree
}

/// The interface of a scope that the scopes inside it use.
protocol OuterScope: AnyObject, Sendable {
    /// Adds a new child scope.
    func adopt(_ scope: any InnerScope) throws(ScopeError)

    /// Removes a closed child scope.
    func release(_ scope: any InnerScope)
}
