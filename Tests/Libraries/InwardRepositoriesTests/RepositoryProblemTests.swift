import InwardCore
import InwardFetching
import InwardRepositories
import Testing

struct RepositoryProblemTests {
    private static let secret = "http://user:secret@internal.test/remarks?key=secret"

    /// The status of each reason. The switch does not compile without all of them.
    private static func status(_ reason: RecordStoreError.Reason) -> Int {
        switch reason {
        case .full: 507
        case .denied: 500
        case .conflict: 409
        case .busy, .closed, .cancelled, .outcomeUnknown, .unavailable: 503
        }
    }

    @Test(arguments: RecordStoreError.Reason.allCases)
    func everyStoreErrorHasAStatus(reason: RecordStoreError.Reason) {
        let error: any Error = RecordStoreError(reason, explanation: "The store at \(Self.secret) failed.")
        let problem = ProblemDetails(error)
        #expect(problem.status.code == Self.status(reason) && !problem.detail.contains("secret"))
    }

    @Test func conflictProblemHidesItsVersions() {
        let refusal = RepositoryError(.conflict, request: "PUT \(Self.secret)", explanation: "was answered with 412")
        let conflict = WriteConflict(mine: "secret", theirs: "secret", refusal: refusal)
        let error: any Error = WriteError.conflict(conflict)
        #expect(ProblemDetails(error) == .conflict && !ProblemDetails(error).detail.contains("secret"))
    }

    @Test(arguments: [(RepositoryError.Reason.notFound, 404), (.unavailable, 503), (.outcomeUnknown, 504)])
    func failedWriteHasTheProblemOfItsRepositoryError(reason: RepositoryError.Reason, status: Int) {
        let cause = RepositoryError(reason, request: Self.secret, explanation: "failed", retryAfter: .seconds(7))
        let problem = ProblemDetails(WriteError<String>.failed(cause))
        #expect(problem.status.code == status && problem == ProblemDetails(cause))
    }
}
