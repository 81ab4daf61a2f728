import InwardFetching
import TestSupport
import Testing

struct FailureCriteriaTests {
    private func error(_ reason: FetchError.Reason) throws -> FetchError {
        FetchError(reason, request: try .example(), explanation: "failed")
    }

    @Test(arguments: [FetchError.Reason.unreachable, .untrusted, .timedOut, .interrupted])
    func missingResponsesAreFailures(reason: FetchError.Reason) throws {
        #expect(FailureCriteria.standard.isFailure(try error(reason)))
    }

    @Test(arguments: [
        FetchError.Reason.cancelled, .closed, .invalidRequest, .rejected, .tooLarge, .tooManyRedirects, .unreadable,
        .addressRefused,
    ])
    func otherErrorsAreNotFailures(reason: FetchError.Reason) throws {
        #expect(!FailureCriteria.standard.isFailure(try error(reason)))
        #expect(FailureCriteria(reasons: [reason]).isFailure(try error(reason)))
    }

    @Test(arguments: [(200, false), (404, false), (429, false), (499, false), (500, true), (599, true), (600, false)])
    func serverErrorsAreFailures(code: Int, isFailure: Bool) throws {
        let response = DataResponse(status: DataResponse.Status(code))
        #expect(FailureCriteria.standard.isFailure(response.status) == isFailure)
        #expect(FailureCriteria.standard.isFailure(response) == isFailure)
        // The same applies to an error with the status of the response.
        #expect(FailureCriteria.standard.isFailure(FetchError(response, to: try .example())) == isFailure)
    }

    @Test func successesAreNeverFailures() {
        let criteria = FailureCriteria(statuses: 0...999)
        for code in 200..<300 { #expect(!criteria.isFailure(DataResponse.Status(code))) }
        #expect(criteria.isFailure(199))
        #expect(criteria.isFailure(300))
    }

    @Test func onlyListedOutcomesAreFailures() throws {
        let criteria = FailureCriteria()
        #expect(!criteria.isFailure(500))
        #expect(!criteria.isFailure(try error(.unreachable)))
        #expect(criteria.reasons == [])
        #expect(criteria.statuses == [])
    }

    @Test func statusesCanBeListedIndividually() {
        var criteria = FailureCriteria(statuses: [429])
        #expect(criteria.isFailure(429))
        #expect(!criteria.isFailure(503))
        criteria.statuses.insert(503)
        #expect(criteria.isFailure(503))
    }

    @Test func rangesOfStatusesAreClamped() {
        #expect(FailureCriteria(statuses: .min ... .max).statuses.count == 1_000)
    }
}
