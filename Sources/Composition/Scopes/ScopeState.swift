/// What a scope knows of itself: which of its phases it is in, and what it has to end before it is closed.
struct ScopeState<Objects: Sendable> {
    private enum Phase {
        case opening
        case open(Objects)
        case closing(Task<[ScopeCloseError.Failure], Never>, Objects)
        case closed(Task<[ScopeCloseError.Failure], Never>?)
    }

    private var phase: Phase
    private(set) var closers: [ScopeOpening.Closer] = []
    private var children: [ObjectIdentifier: (place: Int, scope: any InnerScope)] = [:]
    private var work: [Int: any RunningWork] = [:]
    private var nextPlace = 0
    var failures: [ScopeCloseError.Failure] = []

    init(objects: Objects?) {
        phase = objects.map(Phase.open) ?? .opening
    }

    /// Begins the time in which the scope can be used.
    mutating func open(_ objects: Objects, closers: [ScopeOpening.Closer]) {
        phase = .open(objects)
        self.closers = closers
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
        case .open(let objects), .closing(_, let objects): objects
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

    mutating func end(_ place: Int) {
        work[place] = nil
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
        case .open(let objects):
            let task = makeTask()
            phase = .closing(task, objects)
            return task
        case .closing(let task, _): return task
        case .opening, .closed(nil): return Task { [] }
        case .closed(let task?): return task
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
