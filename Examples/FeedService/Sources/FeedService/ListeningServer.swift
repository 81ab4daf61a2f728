import Foundation
import NIOCore
import ServiceLifecycle

/// A server that names the setting of its address if it cannot listen there.
struct ListeningServer: Service, CustomStringConvertible {
    private let base: any Service
    private let host: String
    private let port: Int
    private let setting: String

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - base: The server that listens.
    ///   - host: The address.
    ///   - port: The port.
    ///   - setting: The name of the setting of the port.
    init(_ base: any Service, host: String, port: Int, setting: String) {
        (self.base, self.host, self.port, self.setting) = (base, host, port, setting)
    }

    var description: String { "The server at the setting “\(setting)”" }

    /// Runs the server.
    ///
    /// - Throws: A ``SettingError`` if the server cannot listen at the address; any other error of the server.
    func run() async throws {
        do {
            try await base.run()
        } catch {
            throw naming(error)
        }
    }

    /// Returns the error that names the setting; the error itself if it has another cause.
    private func naming(_ error: any Error) -> any Error {
        if error is SocketAddressError.UnknownHost {
            return SettingError("host", "must be an address of this machine, and “\(host)” is unknown")
        }
        guard let code = (error as? IOError)?.errnoCode else { return error }
        switch code {
        case EADDRINUSE: return SettingError(setting, "must be another port, because \(port) is in use")
        case EADDRNOTAVAIL: return SettingError("host", "must be an address of this machine, and “\(host)” is not")
        case EACCES: return SettingError(setting, "must be a port that this user may use, not \(port)")
        default: return error
        }
    }
}
