import Foundation
import InwardFetching
import InwardTesting
import Testing

struct RecordingFetchObserverTests {
    @Test func eventsAreRecordedAsText() async throws {
        let observer = RecordingFetchObserver()
        var request = DataRequest(url: try #require(URL(string: "http://upstream.test/")))
        let error = FetchError(.unreachable, request: request, explanation: "was lost")
        observer.requestEnded(request, .success(DataResponse()), after: .seconds(2))
        request.attempt = 2
        observer.attemptEnded(request, .failure(error), after: .seconds(1))
        observer.answeredFromCache(request)
        observer.joined(request)
        observer.retryScheduled(request, after: .seconds(3), because: .failure(error))
        observer.hedged(request)
        observer.rejected(request, because: error)
        observer.fellBack(request, because: error)
        observer.credentialsRefreshed(for: request)
        observer.circuitChanged("upstream", from: "closed", to: "open")
        await #expect(throws: error) {
            try await observer.surroundAttempt(request) { _ throws(FetchError) in throw error }
        }
        #expect(
            observer.descriptions == [
                "GET http://upstream.test/ ended with 200 OK after 2.0 seconds",
                "Attempt 2 of GET http://upstream.test/ ended with unreachable after 1.0 seconds",
                "GET http://upstream.test/ was answered from a cache", "GET http://upstream.test/ joined an equal one",
                "Attempt 2 of GET http://upstream.test/ was scheduled after 3.0 seconds because of unreachable",
                "GET http://upstream.test/ was hedged", "GET http://upstream.test/ was rejected: it was lost",
                "GET http://upstream.test/ fell back because of unreachable",
                "Credentials were refreshed for GET http://upstream.test/",
                "The circuit upstream went from closed to open", "Attempt 2 of GET http://upstream.test/ began",
                "Attempt 2 of GET http://upstream.test/ returned unreachable",
            ]
        )
        #expect(observer.events.count == 12)
        #expect(observer.events[5] == .hedged(request))
    }

    @Test func sharedLogNamesItsObservers() throws {
        let request = DataRequest(url: try #require(URL(string: "http://upstream.test/")))
        let observer = RecordingFetchObserver()
        RecordingFetchObserver(named: "inner", sharing: observer).hedged(request)
        observer.joined(request)
        #expect(
            observer.descriptions == [
                "inner: GET http://upstream.test/ was hedged", "GET http://upstream.test/ joined an equal one",
            ]
        )
    }
}
