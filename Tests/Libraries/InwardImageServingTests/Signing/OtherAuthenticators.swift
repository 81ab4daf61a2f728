import InwardImageServing
import Synchronization
import TestSupport

/// An authenticator that counts the codes it verifies, and finds none valid.
struct CountingAuthenticator: MessageAuthenticator {
    let count = Counter()

    func authenticationCode(for message: [UInt8]) -> [UInt8] { [] }

    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
        count.add()
        return false
    }
}

/// An authenticator that records messages, and finds no code valid.
final class RecordingAuthenticator: MessageAuthenticator {
    private let recorded = Mutex<[[UInt8]]>([])

    var messages: [[UInt8]] { recorded.withLock(\.self) }

    func authenticationCode(for message: [UInt8]) -> [UInt8] {
        recorded.withLock { $0.append(message) }
        return [1, 2, 3]
    }

    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
        recorded.withLock { $0.append(message) }
        return false
    }
}

/// An authenticator that finds every code valid, as if the service had signed anything.
struct TrustingAuthenticator: MessageAuthenticator {
    func authenticationCode(for message: [UInt8]) -> [UInt8] { [1, 2, 3] }
    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool { true }
}
