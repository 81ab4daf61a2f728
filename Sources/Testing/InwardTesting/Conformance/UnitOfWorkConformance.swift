import InwardCore

/// A check of the requirements for every unit of work.
///
/// Tell the check how to open a unit of work with two repositories at a place, and run it in a test of any framework:
///
///     let conformance = UnitOfWorkConformance(isDurable: true)
///     try await conformance.check { place in MyUnitOfWork.stage(in: directory.appending(path: place)) }
///
/// Each place must be empty when it is first opened and independent of all other places. If the places are durable, the check opens
/// them again. To check crashes, use ``checkCrashes(_:)``.
public struct UnitOfWorkConformance: Sendable {
    private static let opening = "The unit of work must be opened and must not fail, and did: "

    let isDurable: Bool

    /// Creates a check.
    ///
    /// - Parameter isDurable: Whether a unit of work that is reopened at a place finds what was made durable there.
    public init(isDurable: Bool) {
        self.isDurable = isDurable
    }

    /// Checks the units of work that a closure opens.
    ///
    /// - Parameter open: Opens a unit of work at the place with the given name.
    /// - Throws: a ``ConformanceFailure`` that lists all violations.
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

    /// Checks the result of commits during which the process ends, for each of their steps.
    ///
    /// - Parameter open: Opens a unit of work at the place with the given name. It must simulate the end of the process at the
    ///   given step, counted from zero: nothing after that step has any effect, and the step may throw. `nil` means that the
    ///   process does not end.
    /// - Throws: a ``ConformanceFailure`` that lists the violations and the step of each.
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
                        Behind \(commits) commits and a crash in the step \(step) all of the next must be there or nothing, and \
                        there is \(Self.text(found)).
                        """
                    )
                }
                try await stage.commit([(.first, "new", 1), (.second, "new", 2)])
                if try await stage.numbers("new") != [1, 2] {
                    violations.append("Behind a crash in the step \(step) a commit must be seen, and is not.")
                }
                await stage.close()
            } catch {
                violations.append("Behind a crash in the step \(step) nothing must fail, and did: \(error)")
            }
            step += 1
        }
        if step == 1, violations.isEmpty { violations.append("A process must end in its first step, and did not.") }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Returns the changes of the commits during which the process ends.
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
            violations.append("What is prepared must change nothing, and does.")
        }
        try await stage.unitOfWork.commit([kept])
        if try await stage.numbers("a") != [nil, 2] {
            violations.append("Only what is committed must be changed, and is not.")
        }
        try await stage.commit([(.second, "a", 3)])
        try await stage.unitOfWork.commit([kept])
        if try await stage.numbers("a") != [nil, 2] {
            violations.append("What is committed twice must be changed twice, and is not.")
        }
        return violations
    }

    /// Changes that are committed together become visible in all repositories.
    func commitViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        var violations: [String] = []
        try await stage.unitOfWork.commit([])
        try await stage.commit([(.first, "a", 1), (.second, "a", 2), (.second, "b", 3)])
        if try await stage.numbers("a") + stage.numbers("b") != [1, 2, nil, 3] {
            violations.append("What is committed in two repositories must be seen in both, and is not.")
        }
        try await stage.commit([(.first, "a", nil), (.second, "b", 4)])
        if try await stage.numbers("a") + stage.numbers("b") != [nil, 2, nil, 4] {
            violations.append("What is removed and changed at once must be, and is not.")
        }
        return violations
    }

    /// Changes are applied in order.
    func orderViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        try await stage.commit([(.first, "a", 1), (.first, "a", nil), (.first, "a", 2), (.second, "a", 9)])
        let found = try await stage.numbers("a")
        if found != [2, 9] { return ["The last change of a name must be seen, and there is \(Self.text(found))."] }
        // The first change again, which is then the last.
        let one = try await stage.prepare(.first, "twice", 1)
        let two = try await stage.prepare(.first, "twice", 2)
        let removal = try await stage.prepare(.second, "twice", nil)
        let three = try await stage.prepare(.second, "twice", 3)
        try await stage.unitOfWork.commit([one, removal, two, three, one, removal])
        let last = try await stage.numbers("twice")
        return last == [1, nil]
            ? [] : ["What is twice in one commit must be made twice, and there is \(Self.text(last))."]
    }

    /// Of many concurrent commits, each finds its changes as soon as it returns, in both repositories and permanently.
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
                        return ["A unit of work must not fail where many use it, and did: \(error)"]
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
            + (lost == 0 ? [] : ["Of 64 commits that are made at the same time \(lost) are lost."])
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
            ? [] : ["All of \(count) changes that are committed at once must be made, and \(made) are."]
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
                violations.insert("A change that was prepared elsewhere must be refused, and is not.")
            } catch {
                if error.reason != .foreign {
                    violations.insert(
                        "A change that was prepared elsewhere must be refused as foreign, and is as \(error.reason)."
                    )
                }
            }
            if try await stage.numbers("a") + other.numbers("a") != [nil, nil, nil, nil] {
                violations.insert("Where a change is refused nothing must be changed, and something is.")
            }
        }
        try await stage.unitOfWork.commit([own])
        if try await stage.numbers("a") != [1, nil] {
            violations.insert("A change whose commit failed must be made by the next, and is not.")
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
            ? [] : ["What was committed must be there, opened again, and there is \(Self.text(found))."]
    }

    private static var unseenMessage: String {
        "What is committed must be seen in both repositories when the call returns, and is not."
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
                violations.insert("A commit of a cancelled task must be made where it does not fail, and is not.")
            case .failure(let error) where error.reason != .cancelled:
                violations.insert("A commit of a cancelled task must fail as cancelled, and did as \(error.reason).")
            case .failure where isMade:
                violations.insert("A commit that fails as cancelled must change nothing, and did.")
            case .success, .failure:
                if !isMade, !isUnchanged {
                    violations.insert(
                        "A commit of a cancelled task must be made whole or not at all, and half of it is."
                    )
                }
            }
            try other?.get()
            if other != nil, try await stage.numbers(lasting) != [4, 5] {
                violations.insert("What is committed while another commit is cancelled must be seen, and is not.")
            }
            return isMade
        }
        return violations.sorted()
    }
}
