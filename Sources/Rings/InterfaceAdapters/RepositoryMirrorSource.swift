import InwardFetching
import InwardImages
public import InwardRepositories
public import InwardTransfers
public import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A mirror source that reads the originals from an upstream.
///
/// ```swift
/// func mirror(into store: any MirrorStore) async throws -> MirrorReport {
///     let createMirror = CreateMirror(from: RepositoryMirrorSource(upstream: upstream), in: store)
///     return try await createMirror()
/// }
/// ```
public struct RepositoryMirrorSource: MirrorSource {
    private let upstream: Upstream
    private let limits: MirrorLimits

    /// Creates a source for an upstream.
    ///
    /// - Parameters:
    ///   - upstream: The upstream of the originals.
    ///   - limits: The limits of the mirror. They also limit the size of a response from an upstream that does not
    ///     support byte ranges.
    public init(upstream: Upstream, limits: MirrorLimits = MirrorLimits()) {
        self.upstream = upstream
        self.limits = limits
    }

    /// Returns a loader for the address of an item.
    public func loader(of item: MirroredItem) -> any DataLoader {
        let isImage = if case .avatar = item { true } else { false }
        return FetchingDataLoader(
            url: upstream.baseURL.appending(path: item.path),
            wholeByteLimit: isImage ? limits.maximumImageByteCount : limits.maximumListByteCount,
            dataFetcher: upstream.dataFetcher
        )
    }
}

extension MirroredItem {
    /// The path of the item, relative to the upstream's base URL.
    public var path: String {
        switch self {
        case .users: "users"
        case .posts: "posts"
        case .avatar(let id): ImageAddress.avatar(of: id).rawValue
        }
    }

    /// The path of the item's file, relative to the mirror's directory.
    public var fileName: String {
        switch self {
        case .users, .posts: "\(path).json"
        case .avatar: path
        }
    }
}
