import InwardCore

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

    /// So many changes at once are made as well as few.
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
