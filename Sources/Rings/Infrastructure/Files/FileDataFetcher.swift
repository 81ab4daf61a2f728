public import Foundation
public import InwardFetching
import InwardFileStores

/// A data fetcher that answers from a directory that mirrors an upstream.
///
/// The path `/users` is the file `users.json`. The path `/users/7` is the file `users/7.json`, or else the record with that
/// identity in `users.json`. Lists can be filtered by their fields, as in `/posts?userId=7`, and sliced by `_start` and
/// `_limit`. Any other path is the file of that name, such as `/avatars/7.jpg`. Missing files are answered with `404`, and
/// methods other than `GET` and `HEAD` with `405`.
///
/// ```swift
/// let directory = URL(filePath: "mirror", directoryHint: .isDirectory)
/// let fetcher = try FileDataFetcher(directory: directory)
/// let users = try await fetcher.fetch(DataRequest(url: directory.appending(path: "users")))
/// ```
///
/// No path leads out of the directory. The fetcher rejects encoded slashes and `..`, encoded or not. It does not follow
/// symbolic links: a linked file fails with `FetchError.Reason.unreadable`, and files in a linked subdirectory count as
/// missing. Only the path of the directory itself may contain symbolic links.
public struct FileDataFetcher: DataFetcher {
    private static let partSize = 1_024 * 1_024

    private let tree: DirectoryTree
    private let upstream: StaticUpstream
    private let bodyLimit: Int

    /// Creates a fetcher for an existing directory, which stays open as long as the fetcher lives.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory.
    ///   - baseURL: The address to serve the directory at, for example the address of the upstream that it mirrors. `nil` for
    ///     the directory's own address.
    ///   - bodyLimit: The maximum size of a file, in bytes.
    /// - Throws: A ``FileDataFetcherError`` if the directory does not exist or cannot be read.
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

    /// Creates a fetcher for an open directory.
    init(_ tree: DirectoryTree, servedAs baseURL: URL, bodyLimit: Int = 64 * 1_024 * 1_024) {
        self.tree = tree
        upstream = StaticUpstream(baseURL: baseURL)
        self.bodyLimit = bodyLimit
    }

    /// Returns the directory's answer to a request.
    ///
    /// - Throws: A `FetchError` if the address is outside the directory, or if the file cannot be read.
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
            throw failure(.unreadable, "maps to \(path.joined(separator: "/")), which \(error)")
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
                throw failure(.tooLarge, "maps to a file of more than \(bodyLimit) bytes, which is the limit")
            }
            contents.append(part)
        }
    }
}

/// An error that explains why a directory cannot be fetched from.
///
/// ```swift
/// do {
///     _ = try FileDataFetcher(directory: URL(filePath: "missing", directoryHint: .isDirectory))
/// } catch {
///     print("Offline mode is not available: \(error)")
/// }
/// ```
public struct FileDataFetcherError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the directory.
    public let path: String
    /// The problem, as the end of a sentence that begins with the path.
    public let explanation: String

    /// The path and the problem.
    public var description: String { "“\(path)” \(explanation)" }
}
