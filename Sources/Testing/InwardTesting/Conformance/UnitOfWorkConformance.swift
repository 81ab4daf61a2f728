/// What every unit of work must do, as a check to run on an implementation.
///
/// Tell it how a unit of work with two repositories is opened at a place, and run it from a test of any framework:
///
///     let conformance = UnitOfWorkConformance(isDurable: true)
///     try await conformance.check { place in MyUnitOfWork.stage(in: directory.appending(path: place)) }
///
/// What is opened at another place has nothing to do with it, and a place is empty when it is opened first. A check whose place is
/// durable opens it again. Those of a crash are in ``checkCrashes(_:)``.
public struct UnitOfWorkConformance: Sendable {
    private static let opening = "The unit of work must be opened and must not fail, and did: "

    let isDurable: Bool

    /// Makes a check.
    ///
    /// - Parameter isDurable: Whether what is closed and opened again at a place finds what was made durable there.
    public init(isDurable: Bool) {
        self.isDurable = isDurable
    }

    /// Checks the units of work that a function opens.
    ///
    /// - Parameter open: Opens one at the place of a name.
    /// - Throws: a ``ConformanceFailure`` that tells everything that a unit of work does wrong.
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

    /// Checks what is left of commits during which a process ends, in each of its steps.
    ///
    /// - Parameter open: Opens a unit of work at the place of a name, which fails, or whose process ends, in a step that is given,
    ///   counted from zero: from then on nothing that is done has any effect. `nil` if it does not end. It may throw in that step.
    /// - Throws: a ``ConformanceFailure`` that tells what a unit of work does wrong, and in which step.
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

    /// The changes of the commits that a process ends in.
    private static func crashing(_ number: Int) -> [(UnitOfWorkStage.Repository, String, Int?)] {
        [
            (.first, "a", number), (.second, "a", number), (.first, "b", number == 2 ? nil : number),
            (.second, "b", -number),
        ]
    }

    /// What is found behind so many of them.
    private static let afterCrash: [[Int?]] = [
        [nil, nil, nil, nil], [1, 1, 1, -1], [2, 2, nil, -2], [3, 3, 3, -3],
    ]

    static func text(_ numbers: [Int?]) -> String {
        "[" + numbers.map { $0.map(String.init) ?? "nothing" }.joined(separator: ", ") + "]"
    }
}
