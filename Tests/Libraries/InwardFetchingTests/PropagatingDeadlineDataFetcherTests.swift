import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

struct PropagatingDeadlineDataFetcherTests {
    private let clock = ManualClock()
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))

    /// Returns the request that is sent when the given time remains.
    private func sent(
        _ fields: HeaderFields = [],
        as format: DeadlineFormat? = nil,
        remaining: Duration?
    ) async throws -> HeaderFields {
        let name = try #require(HeaderField.Name("X-Time-Left"))
        let fetcher =
            if let format { source.propagatingDeadline(in: name, as: format) } else {
                source.propagatingDeadline(in: name)
            }
        let request = try DataRequest.example(headerFields: fields)
        let deadline = remaining.map { Deadline(in: $0, on: clock) }
        let work = { () async throws(FetchError) in try await fetcher.fetch(request) }
        _ = if let deadline { await deadline.carried(by: work) } else { await Result(awaiting: work) }
        return try #require(source.requests.last).headerFields
    }

    @Test func remainingMillisecondsAreSent() async throws {
        let accept = HeaderField(.accept, "text/plain")
        let sent = try await sent([accept], remaining: .milliseconds(1_500))
        #expect(sent.map(\.description) == ["Accept: text/plain", "X-Time-Left: 1500"])
    }

    @Test func remainingTimeIsSentInsteadOfTheLimit() async throws {
        let name = try #require(HeaderField.Name("X-Time-Left"))
        let fetcher = source.propagatingDeadline(in: name)
        _ = await Deadline(in: .seconds(3), on: clock).carried { () async in
            for _ in 0..<4 {
                _ = try? await fetcher.fetch(.example())
                clock.advance(by: .seconds(1))
            }
        }
        #expect(source.requests.map { $0.headerFields[name] } == ["3000", "2000", "1000", "0"])
    }

    @Test func existingValueIsReplaced() async throws {
        let names = [try #require(HeaderField.Name("x-time-left")), try #require(HeaderField.Name("X-Time-Left"))]
        let fields = HeaderFields(names.map { HeaderField($0, "9") })
        #expect(try await sent(fields, remaining: .seconds(1)).map(\.value) == ["1000"])
    }

    @Test func requestIsUnchangedWithoutADeadline() async throws {
        #expect(try await sent(remaining: nil) == [])
        let fields: HeaderFields = [HeaderField(try #require(HeaderField.Name("X-Time-Left")), "9")]
        #expect(try await sent(fields, remaining: nil) == fields)
    }

    @Test(arguments: [
        (Duration.seconds(2), "2000", "2"), (.milliseconds(1_500), "1500", "1.5"), (.milliseconds(50), "50", "0.05"),
        (.milliseconds(1), "1", "0.001"), (.microseconds(1_999), "1", "0.001"), (.nanoseconds(1), "0", "0"),
        (.zero, "0", "0"), (.seconds(-1), "0", "0"), (.nanoseconds(-1), "0", "0"),
        (.milliseconds(90_010), "90010", "90.01"),
        (.seconds(Int64.max), "9223372036854775000", "9223372036854775"),
    ])
    func remainingTimesAreRoundedDown(remaining: Duration, milliseconds: String, seconds: String) {
        #expect(DeadlineFormat.milliseconds.text(remaining) == milliseconds)
        #expect(DeadlineFormat.seconds.text(remaining) == seconds)
    }

    @Test func formatIsConfigurable() async throws {
        #expect(try await sent(as: .seconds, remaining: .milliseconds(1_500)).map(\.value) == ["1.5"])
    }

    @Test func layerDescriptionNamesTheHeaderField() throws {
        let layer = source.propagatingDeadline(in: try #require(HeaderField.Name("X-Time-Left"))).layer
        #expect(layer == DataFetcherLayer(.deadlineNotice, "sends the remaining time in X-Time-Left"))
    }
}
