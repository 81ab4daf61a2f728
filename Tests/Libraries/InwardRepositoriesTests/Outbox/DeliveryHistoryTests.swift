import InwardCore
import InwardFetching
import TestSupport
import Testing

@testable import InwardRepositories

struct DeliveryHistoryTests {
    private enum Meaning: Hashable { case delivered, refused, conflicting, again }

    private func meaning(_ verdict: DeliveryVerdict) -> Meaning {
        switch verdict {
        case .delivered: .delivered
        case .refused: .refused
        case .conflicting: .conflicting
        case .again: .again
        }
    }

    private func verdict(
        _ history: inout DeliveryHistory,
        _ outcome: (DataRequest) -> Result<DataResponse, FetchError>
    ) throws -> DeliveryVerdict {
        let request = try DataRequest.example(method: .post)
        return history.add(outcome(request), of: request, at: OutboxStage.time)
    }

    /// Only these statuses are final. After any other one, the write is sent again.
    @Test func eachStatusHasItsVerdict() throws {
        let temporary: Set = [401, 403, 407, 408, 421, 423, 425, 429]
        for code in 100..<600 {
            var history = DeliveryHistory()
            let verdict = try verdict(&history) { _ in .success(DataResponse(status: .init(code))) }
            let expected: Meaning =
                switch code {
                case 200..<300: .delivered
                case 409, 412: .conflicting
                case 400..<500: temporary.contains(code) ? .again : .refused
                default: .again
                }
            #expect(meaning(verdict) == expected, "\(code)")
        }
    }

    @Test(arguments: [
        (FetchError.Reason.cancelled, false), (.closed, false), (.invalidRequest, true), (.rejected, false),
        (.unreachable, false), (.untrusted, false), (.timedOut, false), (.interrupted, false), (.tooLarge, false),
        (.tooManyRedirects, false), (.unreadable, false), (.addressRefused, false),
    ])
    func onlyAnInvalidRequestIsAFinalFailure(reason: FetchError.Reason, isFinal: Bool) throws {
        var history = DeliveryHistory()
        let verdict = try verdict(&history) { .failure(FetchError(reason, request: $0, explanation: "failed")) }
        #expect(meaning(verdict) == (isFinal ? .refused : .again))
    }

    /// A fallback has neither done nor refused the write at the upstream.
    @Test(arguments: [200, 404, 503] as [DataResponse.Status])
    func fallbackResponseSettlesNothing(status: DataResponse.Status) throws {
        var history = DeliveryHistory()
        let verdict = try verdict(&history) { request in
            var response = DataResponse(status: status)
            response.fallbackReason = FetchError(.unreachable, request: request, explanation: "failed")
            return .success(response)
        }
        #expect(meaning(verdict) == .again)
        #expect(history.mayHaveArrived)
    }

    /// A refusal says nothing about an earlier attempt that may still be in progress.
    @Test(arguments: [400, 404, 409, 410, 422] as [DataResponse.Status])
    func refusalIsFinalOnlyIfNoEarlierAttemptCanHaveArrived(status: DataResponse.Status) throws {
        var first = DeliveryHistory()
        let final = try meaning(verdict(&first) { _ in .success(DataResponse(status: status)) })
        #expect(final == (status == 409 ? .conflicting : .refused))
        var later = DeliveryHistory(mayHaveArrived: true)
        for _ in 0..<10 {
            guard case .again(let error, _) = try verdict(&later, { _ in .success(DataResponse(status: status)) })
            else {
                Issue.record("The refusal was treated as final.")
                continue
            }
            #expect(error.reason == .outcomeUnknown)
        }
    }

    /// A failed precondition proves that this attempt changed nothing. The upstream's version shows whether an earlier one did.
    @Test func failedPreconditionIsAlwaysAConflict() throws {
        for mayHaveArrived in [false, true] {
            var history = DeliveryHistory(mayHaveArrived: mayHaveArrived)
            #expect(try meaning(verdict(&history) { _ in .success(DataResponse(status: 412)) }) == .conflicting)
        }
    }

    /// A 409 may come from an upstream that is busy with an earlier attempt, but not forever. A creation cannot conflict with a
    /// version.
    @Test(arguments: [DataRequest.Method.put, .patch, .delete, .post])
    func persistentConflictIsAConflictOfVersions(method: DataRequest.Method) throws {
        var history = DeliveryHistory(mayHaveArrived: true)
        let request = try DataRequest.example(method: method)
        let meanings = (1...5).map { _ in
            meaning(history.add(.success(DataResponse(status: 409)), of: request, at: OutboxStage.time))
        }
        let last: Meaning = method == .post ? .again : .conflicting
        #expect(meanings == [.again, .again, .again, last, last])
    }

    @Test(arguments: [404, 410] as [DataResponse.Status])
    func deletionOfAMissingResourceIsDelivered(status: DataResponse.Status) throws {
        for mayHaveArrived in [false, true] {
            var history = DeliveryHistory(mayHaveArrived: mayHaveArrived)
            let request = try DataRequest.example(method: .delete)
            let verdict = history.add(.success(DataResponse(status: status)), of: request, at: OutboxStage.time)
            #expect(meaning(verdict) == .delivered)
        }
    }

    @Test func unknownOutcomeIsReportedOnceAndA409OnlyIfItPersists() throws {
        func told(_ status: DataResponse.Status) throws -> [Bool] {
            var history = DeliveryHistory(mayHaveArrived: true)
            return try (1...6).map { attempts in
                _ = try verdict(&history) { _ in .success(DataResponse(status: status)) }
                return history.isToBeTold(.outcomeUnknown, after: attempts, limit: 10)
            }
        }
        #expect(try told(422) == [true, false, false, false, false, false])
        // The first few conflicts may come from an upstream that is still busy.
        #expect(try told(409) == [false, false, false, true, false, false])
    }

    @Test(
        arguments: [
            (500, true), (502, true), (503, true), (504, true), (520, true), (303, true), (501, false), (505, false),
            (511, false), (401, false), (408, false), (425, false), (429, false),
        ] as [(DataResponse.Status, Bool)]
    )
    func writeMayHaveBeenDoneDespiteAnErrorStatus(status: DataResponse.Status, mayHave: Bool) throws {
        var history = DeliveryHistory()
        _ = try verdict(&history) { _ in .success(DataResponse(status: status)) }
        #expect(history.mayHaveArrived == mayHave)
    }

    @Test(arguments: [
        (FetchError.Reason.timedOut, true), (.interrupted, true), (.cancelled, true), (.unreachable, false),
        (.rejected, false), (.closed, false),
    ])
    func writeMayHaveArrivedBeforeAFailure(reason: FetchError.Reason, mayHave: Bool) throws {
        var history = DeliveryHistory()
        _ = try verdict(&history) { .failure(FetchError(reason, request: $0, explanation: "failed")) }
        #expect(history.mayHaveArrived == mayHave)
        // A later attempt does not change it.
        _ = try verdict(&history) { _ in .success(DataResponse(status: 429)) }
        #expect(history.mayHaveArrived == mayHave)
    }

    @Test func eachKindOfDelayIsReportedOnce() {
        var history = DeliveryHistory()
        let told: [(RepositoryError.Reason?, Int, Bool)] = [
            (.unavailable, 1, false), (.denied, 2, true), (.denied, 3, false), (.unreadable, 4, true), (nil, 5, true),
            (nil, 6, false), (.unavailable, 9, false), (.unavailable, 10, true), (.unavailable, 11, false),
            (.denied, 12, false),
        ]
        for (reason, attempts, expected) in told {
            #expect(history.isToBeTold(reason, after: attempts, limit: 10) == expected, "\(attempts)")
        }
    }
}
