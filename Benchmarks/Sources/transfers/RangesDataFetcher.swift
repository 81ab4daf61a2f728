import Foundation
import InwardFetching

/// An in-process server that serves ranges of zeros without holding them in memory.
struct RangesDataFetcher: DataFetcher {
    let byteCount: Int

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let positions = request.headerFields[.range]?.dropFirst("bytes=".count).split(separator: "-").compactMap {
            Int($0)
        }
        guard let positions, positions.count == 2, positions[0] < byteCount else {
            return DataResponse(status: .rangeNotSatisfiable)
        }
        let last = min(positions[1], byteCount - 1)
        return DataResponse(
            status: .partialContent,
            headerFields: [
                HeaderField(.etag, "\"1\""),
                HeaderField(.contentRange, "bytes \(positions[0])-\(last)/\(byteCount)"),
            ],
            body: Data(count: last - positions[0] + 1)
        )
    }
}
