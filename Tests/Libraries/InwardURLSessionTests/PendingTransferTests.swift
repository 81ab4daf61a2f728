import Foundation
import InwardFetching
import Testing

@testable import InwardURLSession

struct PendingTransferTests {
    private let transfer: PendingTransfer

    init() throws {
        let request = DataRequest(url: try #require(URL(string: "http://upstream.test/")))
        transfer = PendingTransfer(URLSessionTransfer(of: request, bodyLimit: 3))
    }

    @Test func endedTransferDoesNotStart() async {
        transfer.advance { $0.cancelled() }
        let outcome = await transfer.outcome { Issue.record("The transfer started.") }
        #expect(throws: FetchError.self) { try outcome.get() }
        #expect(!transfer.isUnderWay)
    }

    @Test(arguments: [true, false])
    func transferThatHasNotStartedWasNotSent(hasBegun: Bool) async {
        let outcome = await transfer.outcome {
            if hasBegun { #expect(transfer.start()) }
            transfer.advance { $0.cancelled() }
            #expect(!transfer.start())
        }
        let error = #expect(throws: FetchError.self) { try outcome.get() }
        #expect(error?.reason == .cancelled)
        #expect(error?.wasSent == hasBegun)
    }

    @Test func transferEndsOnce() async throws {
        let outcome = await transfer.outcome {
            #expect(transfer.isUnderWay)
            transfer.advance { _ in .success(DataResponse(status: 201)) }
            transfer.advance { $0.cancelled() }
        }
        transfer.advance { _ in
            Issue.record("A step ran after the end.")
            return nil
        }
        #expect(try outcome.get().status == 201)
    }

    @Test func bodyBeyondTheLimitEndsTheTransfer() async {
        let outcome = await transfer.outcome {
            transfer.advance { $0.received(Data("abc".utf8)) }
            #expect(transfer.isUnderWay)
            transfer.advance { $0.received(Data("d".utf8)) }
        }
        let error = #expect(throws: FetchError.self) { try outcome.get() }
        #expect(error?.reason == .tooLarge)
    }

    @Test func endWithoutAResponseIsAnError() async {
        let outcome = await transfer.outcome { transfer.advance { $0.completed(with: nil, nil) } }
        let error = #expect(throws: FetchError.self) { try outcome.get() }
        #expect(error?.reason == .interrupted)
    }
}
