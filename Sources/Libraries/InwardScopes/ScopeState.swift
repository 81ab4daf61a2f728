/// What a scope knows of itself: which of its phases it is in, and what it has to end before it is closed.
struct ScopeState<Objects: Sendable> {
    private enum Phase {
        case opening
        case open(Objects)
        case closing(Task<[ScopeCloseError.Failure], Never>, Objects?)
        case closed(Task<[ScopeCloseError.Failure], Never>?)
    }

    private var phase: Phase
    private(set) var closers: [ScopeOpening.Closer] = []
    private var children: [ObjectIdentifier: (place: Int, scope: any InnerScope)] = [:]
    private var work: [Int: any RunningWork] = [:]
    private var nextPlace = 0
    private(set) var failures: [ScopeCloseError.Failure] = []

    init(objects: Objects?) {
        phase = objects.map(Phase.open) ?? .opening
    }

    /// Takes over what was made while the scope was opened, and gives what the scope has become meanwhile.
    ///
    /// - Parameters:
    ///   - objects: The objects; `nil` if they could not all be made.
    ///   - closers: How those are closed that were made.
    /// - Returns: whether the scope is open; if it is being closed, the task that will close these too.
    mutating func endOpening(_ objects: Objects?, closers: [ScopeOpening.Closer]) -> OpeningOutcome {
        switch phase {
        case .opening, .open:
            phase = objects.map(Phase.open) ?? .closed(nil)
            if objects != nil { self.closers = closers }
            return objects == nil ? .closed : .open
        case .closing(let task, _):
            phase = .closing(task, objects)
            self.closers = closers
            return .closing(task)
        case .closed:
            return .closed
        }
    }

    /// What a scope has become by the end of its opening.
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

    var openObjects: Objects? { if case .open(let objects) = phase { objects } else { nil } }

    /// The objects, as long as there are any.
    var remainingObjects: Objects? {
        switch phase {
        case .open(let objects): objects
        case .closing(_, let objects): objects
        case .opening, .closed: nil
        }
    }

    var childrenNewestFirst: [any InnerScope] {
        children.values.sorted { $0.place > $1.place }.map(\.scope)
    }

    var workNewestFirst: [any RunningWork] {
        work.sorted { $0.key > $1.key }.map(\.value)
    }

    /// Takes in a scope; `false` if it is too late for that.
    mutating func adopt(_ scope: any InnerScope) -> Bool {
        guard isOpen else { return false }
        children[ObjectIdentifier(scope)] = (takePlace(), scope)
        return true
    }

    mutating func release(_ scope: any InnerScope) {
        children[ObjectIdentifier(scope)] = nil
    }

    /// Remembers a piece of work until it has ended, and gives the place that it has meanwhile.
    mutating func begin(_ task: any RunningWork) -> Int {
        let place = takePlace()
        work[place] = task
        return place
    }

    /// Forgets a piece of work that has ended; `false` if the scope was closed without it.
    mutating func end(_ place: Int) -> Bool {
        work[place] = nil
        return if case .closed = phase { false } else { true }
    }

    mutating func note(_ failures: [ScopeCloseError.Failure]) {
        self.failures += failures
    }

    /// Closes what has nothing to wait for, and gives what it lets go of; `nil` if there is something to wait for.
    mutating func closeIfEmpty() -> Objects? {
        guard case .open(let objects) = phase, children.isEmpty, work.isEmpty, closers.isEmpty else { return nil }
        phase = .closed(nil)
        return objects
    }

    /// The task that closes the scope: the one that already does, or the one that is made for it.
    mutating func startClosing(
        by makeTask: () -> Task<[ScopeCloseError.Failure], Never>
    ) -> Task<[ScopeCloseError.Failure], Never> {
        switch phase {
        case .opening, .open:
            let task = makeTask()
            phase = .closing(task, openObjects)
            return task
        case .closing(let task, _): return task
        case .closed(let task): return task ?? Task { [] }
        }
    }

    /// Ends the last phase but one, and gives what the scope lets go of.
    mutating func close() -> (Objects?, [ScopeOpening.Closer]) {
        guard case .closing(let task, let objects) = phase else { return (nil, []) }
        defer { closers = [] }
        phase = .closed(task)
        return (objects, closers)
    }

    private mutating func takePlace() -> Int {
        defer { nextPlace += 1 }
        return nextPlace
    }
}

/// A piece of work that a scope cancels and waits for when it is closed.
protocol RunningWork: Sendable {
    func cancel()
    /// Waits until the work has ended.
    func end() async
}

extension Task: RunningWork where Failure == Never {
    func end() async { _ = await value }
}

/// A scope as the one around it sees it.
protocol InnerScope: AnyObject, Sendable {
    /// Begins to close the scope, unless that has begun, and returns the failures once it is closed.
    func startClosing() -> Task<[ScopeCloseError.Failure], Never>

    /// The scope by its lifetime and name.
    var title: String { get }

    /// Describes the scope and what is in it.
    func tree(seenFrom outer: ObjectNames) -> ScopeTree
}

/// A scope as one inside it sees it.
protocol OuterScope: AnyObject, Sendable {
    /// Takes in a scope that has just been made.
    func adopt(_ scope: any InnerScope) throws(ScopeError)

    /// Lets go of a scope that is closed.
    func release(_ scope: any InnerScope)
}
