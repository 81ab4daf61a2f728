import Foundation
import Infrastructure
import InterfaceAdapters
import InwardAsyncHTTPClient
import InwardCore
import InwardFetching
import InwardRepositories
import UseCases

/// A copy of the users, the posts and the images of the upstream in a directory: `users.json`, `posts.json`, `avatars/7.jpg`.
///
/// ```swift
/// print(try await FeedMirror(settings, directory: "mirror")())
/// ```
public struct FeedMirror: Sendable {
    private let settings: ServiceSettings
    private let directory: String

    /// Creates a mirror.
    public init(_ settings: ServiceSettings, directory: String) {
        (self.settings, self.directory) = (settings, directory)
    }

    /// Copies what has changed since the last time.
    ///
    /// - Returns: The result as a line.
    /// - Throws: A `FailureViewModel` if no new mirror was created.
    public func callAsFunction() async throws -> String {
        guard let address = settings.upstream else {
            return try await mirror(SampleDataFetcher.baseURL, SampleDataFetcher())
        }
        let client = AsyncHTTPClientDataFetcher()
        do {
            let line = try await mirror(address, client.protecting(by: .standard))
            try await client.close()
            return line
        } catch {
            try? await client.close()
            throw error
        }
    }

    private func mirror(_ baseURL: URL, _ dataFetcher: any DataFetcher) async throws(FailureViewModel) -> String {
        let limits = MirrorLimits()
        let controller = MirrorController(
            createMirror: CreateMirror(
                from: RepositoryMirrorSource(
                    upstream: Upstream(baseURL: baseURL, dataFetcher: dataFetcher),
                    limits: limits
                ),
                in: MirrorDirectory(
                    directory: URL(filePath: directory, directoryHint: .isDirectory),
                    listByteLimit: limits.maximumListByteCount
                ),
                limits: limits
            ),
            source: settings.upstreamTitle,
            directory: directory,
            stopwatch: Stopwatch(ContinuousClock())
        )
        return try await controller().line
    }
}
