import Foundation
import InwardFetching
import Synchronization

/// An in-process server that accepts partial uploads of zeros, counts their bytes, and serves them.
final class PartsDataFetcher: DataFetcher {
    private let byteCount = Mutex(0)

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard !request.url.path().hasSuffix("-state") else {
            return DataResponse(status: request.method == .get ? .notFound : 204)
        }
        switch request.method {
        case .put:
            if request.headerFields[.contentRange] == nil { byteCount.withLock { $0 = 0 } }
            byteCount.withLock { $0 += request.body?.count ?? 0 }
            return DataResponse(status: .created)
        case .get:
            return try await RangesDataFetcher(byteCount: byteCount.withLock(\.self)).fetch(request)
        default:
            return DataResponse(status: 204)
        }
    }
}
