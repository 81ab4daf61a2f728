import InwardCore

/// A check of the requirements for every unit of work.
///
/// Pass a closure that opens a unit of work with two repositories at a place, such as a directory. Run the check in a test:
///
/// ```swift
/// let conformance = UnitOfWorkConformance(isDurable: false)
/// try await conformance.check { _ in try await .records(in: InMemoryRecordStore(), seed: 1) }
/// ```
///
/// Each place must be empty when it is first opened, and independent of all other places. If the unit of work is durable, the
/// check also reopens a place. To check crashes, use ``checkCrashes(_:)``.
public struct UnitOfWorkConformance: Sendable {
    private static let opening = "Opening and using the unit of work must not fail, but did: "

    let isDurable: Bool

    /// Creates a check.
    ///
    /// - Parameter isDurable: Whether a unit of work that is reopened at a place finds the changes that were committed there.
    public init(isDurable: Bool) {
        self.isDurable = isDurable
    }

    /// Checks the units of work that a closure opens.
    ///
    /// - Parameter open: Opens a unit of work at the place with the given name.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check(
        _ open: @escaping @Sendable (_ place: String) async throws -> UnitOfWorkStage
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        for (name, check) in [
            ("preparing", preparationViolations), ("committing", commitViolations), ("order", orderViolations),
            ("size", sizeViolations), ("many", concurrencyViolations), ("cancelling", cancellationViolations),
        ] as [(String, (UnitOfWorkStage) async throws -> [String])] {
            do {
                let stage = try await open(name)
                violations += try await check(stage)
                await stage.close()
            } catch {
                violations.append("\(Self.opening)\(error)")
            }
        }
        do {
            violations += try await foreignViolations(open)
            if isDurable { violations += try await durabilityViolations(open) }
        } catch {
            violations.append("\(Self.opening)\(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Simulates a crash in each step of a series of commits, and checks that each commit is then found completely or not at
    /// all.
    ///
    /// - Parameter open: Opens a unit of work at the place with the given name. Number its steps, such as its writes to files,
    ///   from zero, and simulate a crash in the step with the given number: that step may take effect in part, and may throw.
    ///   All later steps must have no effect. If the number is `nil`, do not simulate a crash.
    /// - Throws: A ``ConformanceFailure`` that lists the violations and the step of each.
    public func checkCrashes(
        _ open: @Sendable (_ place: String, _ step: Int?) async throws -> UnitOfWorkStage
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        var step = 0
        var isWhole = false
        while !isWhole, violations.isEmpty {
            let place = "crash-\(step)"
            do {
                var commits = 0
                if let stage = try? await open(place, step) {
                    for number in 1...3 {
                        guard (try? await stage.commit(Self.crashing(number))) != nil else { break }
                        commits = number
                    }
                    await stage.close()
                }
                isWhole = commits == 3
                let stage = try await open(place, nil)
                let found = try await stage.numbers("a") + stage.numbers("b")
                let allowed = Self.afterCrash[commits...].prefix(2)
                if !allowed.contains(found) {
                    violations.append(
                        """
                        After \(commits) commits and a crash in step \(step), the next commit must be found completely or not at \
                        all, but the numbers are \(Self.text(found)).
                        """
                    )
                }
                try await stage.commit([(.first, "new", 1), (.second, "new", 2)])
                if try await stage.numbers("new") != [1, 2] {
                    violations.append("After a crash in step \(step), a commit must be visible, but is not.")
                }
                await stage.close()
            } catch {
                violations.append("After a crash in step \(step), the unit of work must not fail, but did: \(error)")
            }
            step += 1
        }
        if step == 1, violations.isEmpty {
            violations.append("A crash in step 0 must make a commit fail, but every commit succeeded.")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Returns the changes of the first, second or third commit of the series that a crash interrupts.
    private static func crashing(_ number: Int) -> [(UnitOfWorkStage.Repository, String, Int?)] {
        [
            (.first, "a", number), (.second, "a", number), (.first, "b", number == 2 ? nil : number),
            (.second, "b", -number),
        ]
    }

    /// The expected contents after each number of commits.
    private static let afterCrash: [[Int?]] = [
        [nil, nil, nil, nil], [1, 1, 1, -1], [2, 2, nil, -2], [3, 3, 3, -3],
    ]

    static func text(_ numbers: [Int?]) -> String {
        "[" + numbers.map { $0.map(String.init) ?? "nothing" }.joined(separator: ", ") + "]"
    }
}

extension UnitOfWorkConformance {
    /// A prepared change has no effect until it is committed.
    func preparationViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        _ = try await stage.prepare(.first, "a", 1)
        let kept = try await stage.prepare(.second, "a", 2)
        var violations: [String] = []
        if try await stage.numbers("a") != [nil, nil] {
            violations.append("A prepared change must have no effect, but has one.")
        }
        try await stage.unitOfWork.commit([kept])
        if try await stage.numbers("a") != [nil, 2] {
            violations.append("A commit must make only its own changes, but does not.")
        }
        try await stage.commit([(.second, "a", 3)])
        try await stage.unitOfWork.commit([kept])
        if try await stage.numbers("a") != [nil, 2] {
            violations.append("A change that is committed twice must be applied twice, but is not.")
        }
        return violations
    }

    /// Changes that are committed together become visible in all repositories.
    func commitViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        var violations: [String] = []
        try await stage.unitOfWork.commit([])
        try await stage.commit([(.first, "a", 1), (.second, "a", 2), (.second, "b", 3)])
        if try await stage.numbers("a") + stage.numbers("b") != [1, 2, nil, 3] {
            violations.append("A commit to two repositories must be visible in both, but is not.")
        }
        try await stage.commit([(.first, "a", nil), (.second, "b", 4)])
        if try await stage.numbers("a") + stage.numbers("b") != [nil, 2, nil, 4] {
            violations.append("A removal and a change in one commit must both be made, but are not.")
        }
        return violations
    }

    /// Changes are applied in order.
    func orderViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        try await stage.commit([(.first, "a", 1), (.first, "a", nil), (.first, "a", 2), (.second, "a", 9)])
        let found = try await stage.numbers("a")
        if found != [2, 9] { return ["The last change of a name must win, but the numbers are \(Self.text(found))."] }
        // The first change is committed again at the end, so it wins.
        let one = try await stage.prepare(.first, "twice", 1)
        let two = try await stage.prepare(.first, "twice", 2)
        let removal = try await stage.prepare(.second, "twice", nil)
        let three = try await stage.prepare(.second, "twice", 3)
        try await stage.unitOfWork.commit([one, removal, two, three, one, removal])
        let last = try await stage.numbers("twice")
        if last == [1, nil] { return [] }
        return [
            "A change that occurs twice in one commit must be applied twice, but the numbers are \(Self.text(last))."
        ]
    }

    /// Each of many concurrent commits is visible in both repositories as soon as it returns, and remains visible.
    func concurrencyViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        let found = await withTaskGroup(of: [String].self) { group in
            for writer in 0..<8 {
                group.addTask {
                    do {
                        for number in 0..<8 {
                            let name = "\(writer)-\(number)"
                            try await stage.commit([
                                (.first, name, number), (.second, name, number), (.second, "all", 1),
                            ])
                            if try await stage.numbers(name) != [number, number] { return [Self.unseenMessage] }
                        }
                        return []
                    } catch {
                        return ["A unit of work must not fail under concurrent use, but did: \(error)"]
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var lost = 0
        for writer in 0..<8 {
            for number in 0..<8 where try await stage.numbers("\(writer)-\(number)") != [number, number] { lost += 1 }
        }
        return Set(found).sorted()
            + (lost == 0 ? [] : ["Of 64 concurrent commits, \(lost) are lost."])
    }

    /// A large number of changes is committed as reliably as a small one.
    func sizeViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        let count = 1_200
        let changes = (0..<count).map { number in
            (number % 2 == 0 ? UnitOfWorkStage.Repository.first : .second, String(number), Int?.some(number))
        }
        try await stage.commit(changes)
        var made = 0
        for (repository, name, number) in changes where try await stage.read(repository, name) == number { made += 1 }
        return made == count
            ? [] : ["All \(count) changes of one commit must be made, but \(made) are."]
    }

    /// A change that was prepared by another unit of work makes the commit fail without effect, at any position.
    func foreignViolations(_ open: (String) async throws -> UnitOfWorkStage) async throws -> [String] {
        let stage = try await open("own")
        let other = try await open("other")
        let own = try await stage.prepare(.first, "a", 1)
        let also = try await stage.prepare(.second, "a", 3)
        let foreign = try await other.prepare(.second, "a", 2)
        let unknown = UnknownChange()
        let commits: [[any PreparedChange]] = [
            [own, foreign], [foreign, own], [own, foreign, also], [foreign], [foreign, own, foreign],
            [own, also, foreign],
            [unknown], [own, unknown], [unknown, own], [own, unknown, also],
        ]
        var violations: Set<String> = []
        for changes in commits {
            do throws(UnitOfWorkError) {
                try await stage.unitOfWork.commit(changes)
                violations.insert("A change prepared by another unit of work must be refused, but is not.")
            } catch {
                if error.reason != .foreign {
                    violations.insert(
                        "A change prepared by another unit of work must be refused as foreign, but is refused as \(error.reason)."
                    )
                }
            }
            if try await stage.numbers("a") + other.numbers("a") != [nil, nil, nil, nil] {
                violations.insert("A refused commit must change nothing, but does.")
            }
        }
        try await stage.unitOfWork.commit([own])
        if try await stage.numbers("a") != [1, nil] {
            violations.insert("A change whose commit failed must be made by the next commit, but is not.")
        }
        await other.close()
        await stage.close()
        return violations.sorted()
    }

    /// Committed changes are found when the place is reopened.
    func durabilityViolations(_ open: (String) async throws -> UnitOfWorkStage) async throws -> [String] {
        let stage = try await open("durable")
        try await stage.commit([(.first, "a", 1), (.second, "a", 2), (.second, "b", 3)])
        try await stage.commit([(.first, "a", 4), (.second, "b", nil)])
        await stage.close()
        let next = try await open("durable")
        let found = try await next.numbers("a") + next.numbers("b")
        await next.close()
        return found == [4, 2, nil, nil]
            ? []
            : ["Committed changes must be found when the place is reopened, but the numbers are \(Self.text(found))."]
    }

    private static var unseenMessage: String {
        "A commit must be visible in both repositories when the call returns, but is not."
    }
}

/// A change that no unit of work recognizes.
private struct UnknownChange: PreparedChange {
    var description: String { "a change of something else" }
}

extension UnitOfWorkConformance {
    /// A commit of a cancelled task succeeds completely, or fails as cancelled and changes nothing, whenever it is cancelled.
    /// Concurrent commits are not affected.
    func cancellationViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        var violations: Set<String> = []
        let unitOfWork = stage.unitOfWork
        try await CancellationSweep.run(CancellationMoment.Order.allCases) { round, moment in
            let name = String(round)
            let changes = [
                try await stage.prepare(.first, name, 1), try await stage.prepare(.second, name, 2),
                try await stage.prepare(.first, "also \(name)", 3),
            ]
            let lasting = "lasting \(name)"
            let others = [
                try await stage.prepare(.first, lasting, 4), try await stage.prepare(.second, lasting, 5),
            ]
            let (ending, other) = await moment.result {
                await Result(awaiting: { () async throws(UnitOfWorkError) in try await unitOfWork.commit(changes) })
            } beside: {
                await Result(awaiting: { () async throws(UnitOfWorkError) in try await unitOfWork.commit(others) })
            }
            let found = try await stage.numbers(name) + stage.numbers("also \(name)")
            let isMade = found == [1, 2, 3, nil]
            let isUnchanged = found == [nil, nil, nil, nil]
            switch ending {
            case .success where isUnchanged:
                violations.insert("A cancelled commit that succeeds must take effect, but does not.")
            case .failure(let error) where error.reason != .cancelled:
                violations.insert("A cancelled commit must fail as cancelled, but failed as \(error.reason).")
            case .failure where isMade:
                violations.insert("A commit that fails as cancelled must change nothing, but did.")
            case .success, .failure:
                if !isMade, !isUnchanged {
                    violations.insert(
                        "A cancelled commit must take effect completely or not at all, but took effect in part."
                    )
                }
            }
            try other?.get()
            if other != nil, try await stage.numbers(lasting) != [4, 5] {
                violations.insert("A commit made while another one is cancelled must be visible, but is not.")
            }
            return isMade
        }
        return violations.sorted()
    }
}
