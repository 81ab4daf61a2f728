public import Foundation
public import InwardFetching
import InwardFileStores

/// Fetches from a directory that mirrors an upstream: `/users` is the file `users.json`.
///
/// `/users/7` is the file `users/7.json`, or else the record of that identity in `users.json`. A list can be asked by its
/// fields, as in `/posts?userId=7`, and for a part by `_start` and `_limit`. Any other path is the file of its name, such as
/// `/avatars/7.jpg`. What is not there is answered with `404`, and what would write with `405`.
///
/// No path leads out of the directory: `..`, encoded or not, and an encoded slash are refused, and symbolic links are not
/// followed: what would be reached through one is not there, or cannot be read. The directory itself may be reached by a symbolic link.
public struct FileDataFetcher: DataFetcher {
    private static let partSize = 1_024 * 1_024

    private let tree: DirectoryTree
    private let upstream: StaticUpstream
    private let bodyLimit: Int

    /// Makes a fetcher for a directory, which must be there and stays open as long as the fetcher lives.
    ///
    /// - Parameters:
    ///   - directory: The address of the directory in the file system.
    ///   - baseURL: The address that the directory is served as: that of the upstream it mirrors, say. `nil` for the
    ///     directory's own address.
    ///   - bodyLimit: How many bytes a file may have.
    /// - Throws: a ``FileDataFetcherError`` if there is no such directory or it may not be read.
    public init(
        directory: URL,
        servedAs baseURL: URL? = nil,
        bodyLimit: Int = 64 * 1_024 * 1_024
    ) throws(FileDataFetcherError) {
        let path = directory.path(percentEncoded: false)
        do {
            tree = try DirectoryTree(path: path)
        } catch {
            throw FileDataFetcherError(path: path, explanation: error.description)
        }
        upstream = StaticUpstream(baseURL: baseURL ?? directory)
        self.bodyLimit = max(0, bodyLimit)
    }

    /// Makes a fetcher for a directory that is open.
    init(_ tree: DirectoryTree, servedAs baseURL: URL, bodyLimit: Int = 64 * 1_024 * 1_024) {
        self.tree = tree
        upstream = StaticUpstream(baseURL: baseURL)
        self.bodyLimit = bodyLimit
    }

    /// The answer to a request for something in the directory.
    ///
    /// - Throws: a `FetchError` if the request leads elsewhere, or if what is asked for cannot be read.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        try upstream.answer(to: request) { path throws(FetchError) in
            try contents(at: path, for: request)
        }
    }

    private func contents(at path: [String], for request: DataRequest) throws(FetchError) -> Data? {
        func failure(_ reason: FetchError.Reason, _ explanation: String) -> FetchError {
            FetchError(reason, request: request, explanation: explanation)
        }
        let file: FileHandle
        do {
            guard let found = try tree.file(at: path) else { return nil }
            file = found
        } catch {
            throw failure(.unreadable, "leads to \(path.joined(separator: "/")), which \(error)")
        }
        var contents = Data()
        while true {
            guard !Task.isCancelled else { throw failure(.cancelled, "was cancelled") }
            let part: Data?
            do {
                part = try file.read(upToCount: Self.partSize)
            } catch {
                throw failure(.unreadable, "could not be read to its end: \(error.localizedDescription)")
            }
            guard let part, !part.isEmpty else { return contents }
            guard part.count <= bodyLimit - contents.count else {
                throw failure(.tooLarge, "leads to more than \(bodyLimit) bytes, the most allowed")
            }
            contents.append(part)
        }
    }
}

/// Why a directory cannot be fetched from.
public struct FileDataFetcherError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the directory.
    public let path: String
    /// What is wrong with it, as the end of a sentence.
    public let explanation: String

    /// The path and what is wrong with it.
    public var description: String { "“\(path)” \(explanation)" }
}
