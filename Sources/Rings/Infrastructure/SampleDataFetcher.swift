public import Foundation
public import InwardFetching
import InwardImageCodecs
import InwardImages

/// A small built-in upstream with 10 users, 100 posts and 200 comments, for trying things out without a network.
///
/// ```swift
/// let users = SampleDataFetcher.baseURL.appending(path: "users")
/// let response = try await SampleDataFetcher().fetch(DataRequest(url: users))
/// print(response.body.count)
/// ```
///
/// It answers like JSONPlaceholder: `/users`, `/posts`, `/comments`, `/users/7`, `/posts?userId=7`, with `_start` and `_limit` to
/// select a slice, and images of the users at paths like `/avatars/7.jpg`. It accepts writes as well: `POST` to `/posts`,
/// `/comments` or `/posts/7/comments`, and `PUT`, `PATCH` and `DELETE` of a record. Later reads show what was written, until the
/// program ends. Each record has an entity tag, which `If-Match` and `If-None-Match` can name.
public struct SampleDataFetcher: DataFetcher {
    // Force unwrapping is safe: the constant is a valid address.
    // swift-format-ignore: NeverForceUnwrap
    /// The address of the sample, `sample:///`.
    public static let baseURL = URL(string: "sample:///")!

    private let upstream = StaticUpstream(baseURL: Self.baseURL)
    private let records = SampleRecords()

    /// Creates the sample upstream. Copies of it share what was written.
    public init() {}

    /// Returns the sample's answer to a request.
    ///
    /// - Throws: A `FetchError` if the address is outside the sample, or if the task was cancelled.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        let path = try upstream.path(of: request)
        if let answer = records.answer(to: request, at: path) { return answer }
        return try upstream.answer(to: request) { path throws(FetchError) in file(at: path) }
    }

    private func file(at path: [String]) -> Data? {
        if path.count == 1, path[0].hasSuffix(".json") { return records.list(String(path[0].dropLast(5))) }
        return Self.avatar(at: path)
    }

    private static func avatar(at path: [String]) -> Data? {
        guard path.count == 2, path[0] == "avatars", path[1].hasSuffix(".jpg"),
            let number = Int(path[1].dropLast(4)), (1...10).contains(number)
        else { return nil }
        return avatars[number - 1]
    }

    /// The images of the users, which are encoded once.
    private static let avatars = (1...10).map { SampleAvatar(number: $0).bytes.map { Data($0) } }
}

/// The image of a sample user: rings in a color that depends on the user.
struct SampleAvatar {
    private static let side = 128

    let number: Int

    /// The image, encoded as JPEG.
    var bytes: [UInt8]? {
        try? SwiftImageCodec().bytes(of: image, as: .jpeg(quality: 85))
    }

    private var image: Image {
        let center = Self.side / 2
        return Image(size: ImageSize(clamping: Self.side, Self.side)) { pixels in
            for y in 0..<Self.side {
                for x in 0..<Self.side {
                    let distance = (x - center) * (x - center) + (y - center) * (y - center)
                    let level = UInt8(distance * (number + 4) / (5 * Self.side) % 128 + 96)
                    let index = (y * Self.side + x) * Image.bytesPerPixel
                    for part in 0..<3 { pixels[index + part] = (number >> part) & 1 == 1 ? level : level / 2 }
                    pixels[index + 3] = 255
                }
            }
        }
    }
}
