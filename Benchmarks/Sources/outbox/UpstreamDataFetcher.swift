import Foundation
import InwardFetching

/// An upstream with every note. It processes writes immediately, or never answers them.
struct UpstreamDataFetcher: DataFetcher {
    let answers: Bool

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard answers || request.method == .get else {
            try? await Task.sleep(for: .seconds(86_400))
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let id = Int(request.url.lastPathComponent) ?? 101
        return DataResponse(body: Data(#"{"id":\#(id),"text":"as it was"}"#.utf8))
    }
}
