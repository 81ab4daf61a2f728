import InwardFetching
import TestSupport

/// An upstream whose first answer arrives only once it may.
struct LateAnswer: DataFetcher {
    let base: VersionedSource
    var method = DataRequest.Method.get
    /// Open when the upstream has answered.
    let hasLeft = Gate()
    let mayArrive = Gate()
    private let once = Once()

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let response = try await base.fetch(request)
        guard request.method == method, once.isFirst() else { return response }
        hasLeft.open()
        _ = await mayArrive.pass()
        return response
    }
}
