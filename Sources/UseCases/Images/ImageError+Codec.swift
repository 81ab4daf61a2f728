import Entities

extension ImageError {
    /// The failure of a codec, as it is to whoever asked for the picture.
    init(_ error: ImageCodecError, of address: ImageAddress) {
        let reason: Reason =
            switch error.reason {
            case .unrecognized, .unsupported, .unencodable: .unsupported
            case .damaged, .truncated: .damaged
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            }
        self.init(reason, of: address, explanation: error.explanation)
    }
}
