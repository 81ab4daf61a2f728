import InwardCore

extension UnitOfWorkConformance {
    /// A commit of a cancelled task is made whole or reports that it was cancelled and changes nothing, whenever it is cancelled.
    /// What is committed beside it stays.
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
