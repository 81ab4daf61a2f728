import ArgumentParser
import Foundation
import InwardFetching
import InwardFileStores
import InwardRepositories

/// A caching proxy in front of one server.
@main
struct CachingProxy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "CachingProxy",
        abstract: "Forwards requests to one server, and answers from a cache what HTTP allows (RFC 9111)."
    )

    @Option(help: "The URL of the server.")
    var origin = "http://127.0.0.1:8000"

    @Option(help: "The port to listen on, or 0 for any.")
    var port = 8080

    @Option(help: "The size of the cache in megabytes.")
    var megabytes = 256

    @Option(help: "A directory where responses outlive the proxy.")
    var store: String?

    @Flag(help: "Cache for one user, as a browser does, rather than for all users.")
    var `private` = false

    func run() async throws {
        guard let url = URL(string: origin), url.scheme == "http", let host = url.host() else {
            throw ValidationError("The origin must be an http URL, such as http://127.0.0.1:8000.")
        }
        let cache = ResponseCache(byteLimit: megabytes * 1_000_000, clock: ContinuousClock())
        let responses = store.map { directory in
            RecordResponseStore(FileRecordStore(directory: URL(filePath: directory)), under: ["responses", origin])
        }
        let partition = cache.makePartition(`private` ? .private : .shared, over: responses) { failure in
            FileHandle.standardError.write(Data("\(failure)\n".utf8))
        }
        let fetcher = OriginDataFetcher(host: host, port: url.port ?? 80)
            .timingOut(after: .seconds(30))
            .caching(in: partition)
        try await ProxyServer(origin: url, dataFetcher: fetcher).run(port: port) { port in
            // Not `print`, which keeps the line in a buffer if the output is a file.
            FileHandle.standardOutput.write(Data("http://127.0.0.1:\(port) → \(origin)\n".utf8))
        }
    }
}
