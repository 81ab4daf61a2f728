import UseCases

extension UnitOfWorkConformance {
    /// What is prepared changes nothing, and what is committed changes what it says.
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

    /// All that is committed at once is seen in all repositories.
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

    /// Changes are made in their order.
    func orderViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        try await stage.commit([(.first, "a", 1), (.first, "a", nil), (.first, "a", 2), (.second, "a", 9)])
        let found = try await stage.numbers("a")
        if found != [2, 9] { return ["The last change of a name must be seen, and there is \(Self.text(found))."] }
        // The first again, which is then the last.
        let one = try await stage.prepare(.first, "twice", 1)
        let two = try await stage.prepare(.first, "twice", 2)
        let removal = try await stage.prepare(.second, "twice", nil)
        let three = try await stage.prepare(.second, "twice", 3)
        try await stage.unitOfWork.commit([one, removal, two, three, one, removal])
        let last = try await stage.numbers("twice")
        return last == [1, nil]
            ? [] : ["What is twice in one commit must be made twice, and there is \(Self.text(last))."]
    }

    /// Many commit at once, and each finds what it has committed as soon as that is done, in both repositories and for good.
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

    /// A commit of a cancelled task is made whole or reports that it was cancelled and changes nothing, whenever it is cancelled.
    func cancellationViolations(_ stage: UnitOfWorkStage) async throws -> [String] {
        var violations: Set<String> = []
        for round in 0..<32 {
            let name = String(round)
            let changes = [
                try await stage.prepare(.first, name, 1), try await stage.prepare(.second, name, 2),
                try await stage.prepare(.first, "also \(name)", 3),
            ]
            let ending = await ending(ofCommitting: changes, to: stage.unitOfWork, cancelledAfter: round % 16)
            let found = try await stage.numbers(name) + stage.numbers("also \(name)")
            let isMade = found == [1, 2, 3, nil]
            let isUnchanged = found == [nil, nil, nil, nil]
            switch ending {
            case nil where isUnchanged:
                violations.insert("A commit of a cancelled task must be made where it does not fail, and is not.")
            case .cancelled? where isMade:
                violations.insert("A commit that fails as cancelled must change nothing, and did.")
            case nil, .cancelled?:
                if !isMade, !isUnchanged {
                    violations.insert(
                        "A commit of a cancelled task must be made whole or not at all, and half of it is."
                    )
                }
            case let reason?:
                violations.insert("A commit of a cancelled task must fail as cancelled, and did as \(reason).")
            }
        }
        return violations.sorted()
    }

    /// Why a commit fails whose task is cancelled after so many turns of the scheduler, or before it if there are none; `nil` if it
    /// does not.
    private func ending(
        ofCommitting changes: [any PreparedChange],
        to unitOfWork: any UnitOfWork,
        cancelledAfter turns: Int
    ) async -> UnitOfWorkError.Reason? {
        await withTaskGroup(of: UnitOfWorkError.Reason?.self) { group in
            group.addTask {
                if turns == 0 { while !Task.isCancelled { await Task.yield() } }
                do throws(UnitOfWorkError) {
                    try await unitOfWork.commit(changes)
                    return nil
                } catch {
                    return error.reason
                }
            }
            for _ in 0..<turns { await Task.yield() }
            group.cancelAll()
            return await group.next() ?? nil
        }
    }

    /// A change that was prepared elsewhere keeps the others from being made, wherever it is among them.
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

    /// What was committed is there when it is opened again.
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

/// A change of which no unit of work knows anything.
private struct UnknownChange: PreparedChange {
    var description: String { "a change of something else" }
}
