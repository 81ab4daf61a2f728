import Foundation
import InwardFetching

/// Creates whatever is sent to it, at once or never.
struct UpstreamDataFetcher: DataFetcher {
    let answers: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard answers else {
            try? await Task.sleep(for: .seconds(86_400))
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        return DataResponse(body: Data(#"{"id":101}"#.utf8))
    }
}
