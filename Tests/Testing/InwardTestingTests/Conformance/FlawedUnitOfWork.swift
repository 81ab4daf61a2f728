import InwardCore
import InwardTesting
import Synchronization

/// A unit of work over numbers in memory that does one thing wrong, if a test asks for it.
final class FlawedUnitOfWork: UnitOfWork {
    enum Flaw: CaseIterable {
        case changesWhenPrepared
        case commitsAllPrepared
        case commitsOnce
        case forgetsTheSecond
        case removesNothing
        case changesBackwards
        case losesEveryThird
        case forgetsEveryThird
        case changesWhenCancelled
        case failsOtherwiseWhenCancelled
        case forgetsCancelledChanges
        case acceptsForeign
        case changesBeforeItRefuses
        case refusesAsDenied
        case spendsChanges
        case isNotDurable
        case failsOnNothing
        case isTornByCrashes
        case losesWhatItSaidWasDone
        case neverEnds
        case makesEachOnce
        case looksAtTheLast
        case looksAtTheFirst
        case looksAtTheEnds
        case dropsTheUnknown
        case saysCancelledThoughMade
        case makesHalfWhenCancelled
        case saysCancelledThoughMadeLate
        case makesHalfWhenCancelledLate
        case rollsBackWhenCancelled
        case makesAHundredChanges
    }

    typealias Numbers = [UnitOfWorkStage.Repository: [String: Int]]

    /// What is durable, by the names of the places.
    final class Places: Sendable {
        let numbers = Mutex<[String: Numbers]>([:])
    }

    struct Change: PreparedChange {
        let description: String
        let owner: ObjectIdentifier
        let serial: Int
        let repository: UnitOfWorkStage.Repository
        let name: String
        let number: Int?
    }

    private struct State {
        var numbers: Numbers
        var prepared: [Change] = []
        var spent: Set<Int> = []
        var steps = 0
        var commits = 0
    }

    private let flaw: Flaw?
    private let place: String
    private let places: Places
    private let end: Int?
    private let state: Mutex<State>

    init(_ flaw: Flaw?, at place: String, of places: Places, endingIn end: Int? = nil) {
        self.flaw = flaw
        self.place = place
        self.places = places
        self.end = flaw == .neverEnds ? nil : end
        state = Mutex(State(numbers: places.numbers.withLock { $0[place] ?? [:] }))
    }

    var stage: UnitOfWorkStage {
        UnitOfWorkStage(
            self,
            prepare: { self.prepare($0, $1, $2) },
            read: { repository, name in self.state.withLock { $0.numbers[repository]?[name] } }
        )
    }

    private func prepare(_ repository: UnitOfWorkStage.Repository, _ name: String, _ number: Int?) -> Change {
        state.withLock { state in
            let change = Change(
                description: "the change of \(name)",
                owner: ObjectIdentifier(self),
                serial: state.prepared.count,
                repository: repository,
                name: name,
                number: number
            )
            state.prepared.append(change)
            if flaw == .changesWhenPrepared { state.numbers[repository, default: [:]][name] = number }
            return change
        }
    }

    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError) {
        if changes.isEmpty, flaw == .failsOnNothing { throw UnitOfWorkError(.unavailable, explanation: "") }
        if Task.isCancelled {
            switch flaw {
            case .failsOtherwiseWhenCancelled: throw UnitOfWorkError(.unavailable, explanation: "")
            case .forgetsCancelledChanges: return
            case .changesWhenCancelled: break
            default: throw UnitOfWorkError(.cancelled, explanation: "")
            }
        }
        var own = changes.compactMap { $0 as? Change }
        if own.count < changes.count, flaw != .dropsTheUnknown { throw UnitOfWorkError(.foreign, explanation: "") }
        let looked =
            switch flaw {
            case .looksAtTheFirst: Array(own.prefix(1))
            case .looksAtTheLast: Array(own.suffix(1))
            case .looksAtTheEnds: Array(own.prefix(1) + own.suffix(1))
            default: own
            }
        if let foreign = looked.first(where: { $0.owner != ObjectIdentifier(self) }), flaw != .acceptsForeign {
            if flaw == .changesBeforeItRefuses { try make(own.filter { $0.owner != foreign.owner }) }
            if flaw == .spendsChanges { state.withLock { $0.spent.formUnion(own.map(\.serial)) } }
            throw UnitOfWorkError(flaw == .refusesAsDenied ? .denied : .foreign, explanation: "")
        }
        own = state.withLock { state in
            if flaw == .commitsAllPrepared { return state.prepared }
            let unspent = own.filter { !state.spent.contains($0.serial) }
            if flaw == .commitsOnce { state.spent.formUnion(own.map(\.serial)) }
            return unspent
        }
        if flaw == .changesBackwards { own.reverse() }
        if flaw == .makesEachOnce {
            var serials: Set<Int> = []
            own = own.filter { serials.insert($0.serial).inserted }
        }
        if flaw == .makesAHundredChanges { own = Array(own.prefix(100)) }
        // Long, where it is cancelled, before it begins to go wrong.
        if flaw == .saysCancelledThoughMadeLate || flaw == .makesHalfWhenCancelledLate, own.count == 3 {
            for _ in 0..<600 { await Task.yield() }
        }
        if flaw == .makesHalfWhenCancelled || flaw == .makesHalfWhenCancelledLate {
            for change in own {
                guard !Task.isCancelled else { throw UnitOfWorkError(.cancelled, explanation: "") }
                try make([change])
                for _ in 0..<4 { await Task.yield() }
            }
            return
        }
        if flaw == .losesEveryThird || flaw == .forgetsEveryThird {
            let isThird = state.withLock { state in
                state.commits += 1
                return state.commits % 3 == 0
            }
            if isThird, flaw == .losesEveryThird { return }
            if isThird { state.withLock { $0.numbers[.first] = [:] } }
        }
        let before = state.withLock(\.numbers)
        try make(own)
        switch flaw {
        case .saysCancelledThoughMade, .saysCancelledThoughMadeLate, .rollsBackWhenCancelled:
            for _ in 0..<8 { await Task.yield() }
        case .changesWhenCancelled: break
        default: return
        }
        guard Task.isCancelled else { return }
        if flaw == .rollsBackWhenCancelled { state.withLock { $0.numbers = before } }
        throw UnitOfWorkError(.cancelled, explanation: "")
    }

    /// Makes changes in one step of the process, or each in a step of its own.
    private func make(_ changes: [Change]) throws(UnitOfWorkError) {
        for group in flaw == .isTornByCrashes ? changes.map({ [$0] }) : [changes] {
            let isAlive = state.withLock { state in
                defer { state.steps += 1 }
                return end.map { state.steps < $0 } ?? true
            }
            guard isAlive || flaw == .losesWhatItSaidWasDone else {
                throw UnitOfWorkError(.unavailable, explanation: "The process has ended.")
            }
            let numbers = state.withLock { state in
                for change in group {
                    if change.repository == .second, flaw == .forgetsTheSecond { continue }
                    if change.number == nil, flaw == .removesNothing { continue }
                    state.numbers[change.repository, default: [:]][change.name] = change.number
                }
                return state.numbers
            }
            guard isAlive, flaw != .isNotDurable else { continue }
            places.numbers.withLock { $0[place] = numbers }
        }
    }
}
