import InwardCore
import InwardTesting
import Synchronization

/// A unit of work over numbers in memory, with at most one flaw.
final class FlawedUnitOfWork: UnitOfWork {
    enum Flaw: CaseIterable {
        case changesWhenPrepared
        case commitsAllPrepared
        case commitsOnce
        case forgetsTheSecond
        case removesNothing
        case appliesChangesInReverse
        case losesEveryThird
        case forgetsEveryThird
        case commitsWhenCancelled
        case failsDifferentlyWhenCancelled
        case dropsCancelledCommits
        case acceptsForeign
        case changesBeforeItRefuses
        case refusesAsDenied
        case consumesRefusedChanges
        case isNotDurable
        case failsOnEmptyCommit
        case isPartialAfterCrashes
        case losesReportedCommits
        case neverCrashes
        case makesRepeatedChangesOnce
        case checksOnlyTheLastChange
        case checksOnlyTheFirstChange
        case checksOnlyTheFirstAndLastChange
        case dropsTheUnknown
        case reportsCancellationAfterCommit
        case commitsPartiallyWhenCancelled
        case reportsCancellationAfterSlowCommit
        case commitsPartiallyWhenCancelledLate
        case rollsBackWhenCancelled
        case appliesOnlyAHundredChanges
    }

    typealias Numbers = [UnitOfWorkStage.Repository: [String: Int]]

    /// The durable numbers, by place.
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
        self.end = flaw == .neverCrashes ? nil : end
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
        if changes.isEmpty, flaw == .failsOnEmptyCommit { throw UnitOfWorkError(.unavailable, explanation: "") }
        if Task.isCancelled {
            switch flaw {
            case .failsDifferentlyWhenCancelled: throw UnitOfWorkError(.unavailable, explanation: "")
            case .dropsCancelledCommits: return
            case .commitsWhenCancelled: break
            default: throw UnitOfWorkError(.cancelled, explanation: "")
            }
        }
        var own = changes.compactMap { $0 as? Change }
        if own.count < changes.count, flaw != .dropsTheUnknown { throw UnitOfWorkError(.foreign, explanation: "") }
        let looked =
            switch flaw {
            case .checksOnlyTheFirstChange: Array(own.prefix(1))
            case .checksOnlyTheLastChange: Array(own.suffix(1))
            case .checksOnlyTheFirstAndLastChange: Array(own.prefix(1) + own.suffix(1))
            default: own
            }
        if let foreign = looked.first(where: { $0.owner != ObjectIdentifier(self) }), flaw != .acceptsForeign {
            if flaw == .changesBeforeItRefuses { try make(own.filter { $0.owner != foreign.owner }) }
            if flaw == .consumesRefusedChanges { state.withLock { $0.spent.formUnion(own.map(\.serial)) } }
            throw UnitOfWorkError(flaw == .refusesAsDenied ? .denied : .foreign, explanation: "")
        }
        own = state.withLock { state in
            if flaw == .commitsAllPrepared { return state.prepared }
            let unspent = own.filter { !state.spent.contains($0.serial) }
            if flaw == .commitsOnce { state.spent.formUnion(own.map(\.serial)) }
            return unspent
        }
        if flaw == .appliesChangesInReverse { own.reverse() }
        if flaw == .makesRepeatedChangesOnce {
            var serials: Set<Int> = []
            own = own.filter { serials.insert($0.serial).inserted }
        }
        if flaw == .appliesOnlyAHundredChanges { own = Array(own.prefix(100)) }
        // Waits for a long time in commits that are cancelled, before the flaw takes effect.
        if flaw == .reportsCancellationAfterSlowCommit || flaw == .commitsPartiallyWhenCancelledLate, own.count == 3 {
            for _ in 0..<600 { await Task.yield() }
        }
        if flaw == .commitsPartiallyWhenCancelled || flaw == .commitsPartiallyWhenCancelledLate {
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
        case .reportsCancellationAfterCommit, .reportsCancellationAfterSlowCommit, .rollsBackWhenCancelled:
            for _ in 0..<8 { await Task.yield() }
        case .commitsWhenCancelled: break
        default: return
        }
        guard Task.isCancelled else { return }
        if flaw == .rollsBackWhenCancelled { state.withLock { $0.numbers = before } }
        throw UnitOfWorkError(.cancelled, explanation: "")
    }

    /// Makes changes in one step of the process, or with one flaw, each in its own step.
    private func make(_ changes: [Change]) throws(UnitOfWorkError) {
        for group in flaw == .isPartialAfterCrashes ? changes.map({ [$0] }) : [changes] {
            let isAlive = state.withLock { state in
                defer { state.steps += 1 }
                return end.map { state.steps < $0 } ?? true
            }
            guard isAlive || flaw == .losesReportedCommits else {
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
