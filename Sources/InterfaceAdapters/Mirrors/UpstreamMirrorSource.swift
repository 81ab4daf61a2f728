public import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the originals of a mirror from an upstream.
public struct UpstreamMirrorSource: MirrorSource {
    private let upstream: Upstream

    /// Makes a source of what an upstream has.
    public init(upstream: Upstream) {
        self.upstream = upstream
    }

    /// What loads an item from its address.
    public func loader(of item: MirroredItem) -> any DataLoader {
        FetchingDataLoader(url: upstream.baseURL.appending(path: item.path), dataFetcher: upstream.dataFetcher)
    }
}
