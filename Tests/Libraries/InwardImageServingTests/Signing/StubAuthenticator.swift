import InwardImageServing

/// An authenticator for tests whose codes depend on the key and on each byte of the message. Its codes are not secure.
struct StubAuthenticator: MessageAuthenticator {
    let key: UInt64

    func authenticationCode(for message: [UInt8]) -> [UInt8] {
        var hash = key ^ 0xCBF2_9CE4_8422_2325
        var code: [UInt8] = []
        for round in 0..<2 as Range<UInt8> {
            for byte in message + [round] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            code += (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
        }
        return code
    }

    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
        code == authenticationCode(for: message)
    }
}

extension ImageURLSigner {
    /// A signer with a key for tests.
    static func stub(_ key: UInt64 = 7, id: String = "k1") throws(StubFailure) -> Self {
        Self(signingWith: try .stub(key, id: id))
    }
}

extension ImageSigningKey {
    static func stub(_ key: UInt64, id: String) throws(StubFailure) -> Self {
        guard let key = Self(id: id, StubAuthenticator(key: key)) else { throw StubFailure() }
        return key
    }
}

struct StubFailure: Error {}
