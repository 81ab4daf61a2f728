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

/// Reads the originals of a mirror from an upstream.
public struct RepositoryMirrorSource: MirrorSource {
    private let upstream: Upstream
    private let limits: MirrorLimits

    /// Makes a source of what an upstream has.
    ///
    /// - Parameters:
    ///   - upstream: Where the originals are.
    ///   - limits: The limits of the mirror. They say how much an upstream without byte ranges may give at once.
    public init(upstream: Upstream, limits: MirrorLimits = MirrorLimits()) {
        self.upstream = upstream
        self.limits = limits
    }

    /// What loads an item from its address.
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
    /// Where an upstream has the item, relative to its own address.
    public var path: String {
        switch self {
        case .users: "users"
        case .posts: "posts"
        case .avatar(let id): ImageAddress.avatar(of: id).rawValue
        }
    }

    /// Where a directory that mirrors an upstream has the item, relative to the directory.
    public var fileName: String {
        switch self {
        case .users, .posts: "\(path).json"
        case .avatar: path
        }
    }
}
