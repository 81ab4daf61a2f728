public import Foundation
import Synchronization

/// An HTTP/1.1 server on a loopback socket that answers with the responses that a test prescribes, correct or faulty.
///
/// Each connection has its own thread, so a missing response does not delay others.
public final class LoopbackServer: Sendable {
    /// An event of a response that does not end by itself.
    public enum Event: Hashable, Sendable {
        /// The server has read the request for this target. Its response has started, or never will.
        case waiting(String)
        /// The client that requested this target has closed the connection.
        case abandoned(String)
        /// A client has closed a connection on which no response was due.
        case disconnected
    }

    private struct State {
        var connections: Set<LoopbackSocket> = []
        var connectionCount = 0
        var requests: [LoopbackRequest] = []
        var isStopped = false
    }

    /// The port that the server listens on.
    public let port: Int
    /// The events of responses that do not end by themselves, for one reader.
    public let events: AsyncStream<Event>

    private let listener: LoopbackSocket
    private let isWelcome: @Sendable (Int) -> Bool
    private let answer: @Sendable (LoopbackRequest) -> LoopbackAnswer
    private let report: AsyncStream<Event>.Continuation
    private let state = Mutex(State())

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - isWelcome: Returns whether to accept a connection, by its number, starting with 1. Other connections are closed at
    ///     once.
    ///   - answer: Returns the response to a request.
    /// - Throws: An error if the server cannot listen.
    public init(
        welcoming isWelcome: @escaping @Sendable (Int) -> Bool = { _ in true },
        _ answer: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer
    ) throws {
        (listener, port) = try LoopbackSocket.listening()
        self.isWelcome = isWelcome
        self.answer = answer
        (events, report) = AsyncStream.makeStream()
        Thread.detachNewThread { [self] in acceptConnections() }
    }

    /// Returns the URL of a path on the server.
    public func url(_ path: String = "") -> URL {
        var components = URLComponents()
        components.scheme = "http"
        components.host = "127.0.0.1"
        components.port = port
        return components.url.map { $0.appending(path: path) } ?? URL(filePath: "/")
    }

    /// The requests so far, in order of arrival.
    public var requests: [LoopbackRequest] { state.withLock(\.requests) }

    /// The number of connections so far.
    public var connectionCount: Int { state.withLock(\.connectionCount) }

    /// Stops listening, and closes all connections.
    public func stop() {
        listener.shutDown()
        // Under the lock, because a connection leaves the set before its descriptor is closed and can be reused.
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { connection.shutDown() }
        }
        report.finish()
    }

    private func acceptConnections() {
        while true {
            guard let connection = listener.accept() else {
                if state.withLock(\.isStopped) { break }
                // The client has left already, or the process has too many open files for the moment.
                continue
            }
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                state.connectionCount += 1
                state.connections.insert(connection)
                return state.connectionCount
            }
            guard let number else {
                connection.close()
                break
            }
            Thread.detachNewThread { [self] in
                if isWelcome(number) { serve(connection) }
                state.withLock { _ = $0.connections.remove(connection) }
                connection.close()
            }
        }
        listener.close()
    }

    private func serve(_ connection: LoopbackSocket) {
        var reader = LoopbackRequestReader(connection)
        while let request = reader.next() {
            state.withLock { $0.requests.append(request) }
            guard respond(to: request, on: connection, with: answer(request)) else { return }
        }
        report.yield(.disconnected)
    }

    /// Sends the response to a request, and returns whether the connection can be used for another.
    private func respond(
        to request: LoopbackRequest,
        on connection: LoopbackSocket,
        with answer: LoopbackAnswer
    ) -> Bool {
        switch answer {
        case .whole(let status, let headerLines, let body):
            let head = Self.head(status, headerLines + ["Content-Length: \(body.count)"])
            return connection.send(head + (request.method == "HEAD" ? [] : body))
        case .cutOff(let promised, let sent):
            let head = Self.head(200, ["Content-Length: \(promised)"])
            _ = connection.send(head + [UInt8](repeating: 0x78, count: sent))
            return false
        case .never, .begun:
            report.yield(.waiting(request.target))
            if case .begun(let bytes) = answer { _ = connection.send(bytes) }
            while !connection.receive().isEmpty {}
            report.yield(.abandoned(request.target))
            return false
        case .endless:
            report.yield(.waiting(request.target))
            let part = Array("10000\r\n".utf8) + [UInt8](repeating: 0x78, count: 0x10000) + Array("\r\n".utf8)
            // Stops eventually, because a client that reads as fast as the server sends would never do anything else.
            var goesOn = connection.send(Self.head(200, ["Transfer-Encoding: chunked"]))
            for _ in 0..<1_000 where goesOn { goesOn = connection.send(part) }
            while !connection.receive().isEmpty {}
            report.yield(.abandoned(request.target))
            return false
        case .raw(let bytes):
            _ = connection.send(bytes)
            return false
        case .trickled(let parts, let gate):
            report.yield(.waiting(request.target))
            for part in parts {
                gate.pass()
                _ = connection.send(part)
            }
            while !connection.receive().isEmpty {}
            report.yield(.abandoned(request.target))
            return false
        case .held(let gate, let answer):
            report.yield(.waiting(request.target))
            gate.pass()
            return respond(to: request, on: connection, with: answer)
        case .last(let answer):
            _ = respond(to: request, on: connection, with: answer)
            return false
        case .followed(let answer, let act):
            let goesOn = respond(to: request, on: connection, with: answer)
            act()
            return goesOn
        }
    }

    private static func head(_ status: Int, _ lines: [String]) -> [UInt8] {
        Array((["HTTP/1.1 \(status) Told"] + lines + ["", ""]).joined(separator: "\r\n").utf8)
    }
}
