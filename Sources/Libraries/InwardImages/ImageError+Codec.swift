extension ImageError {
    /// Makes the error of a load from the error of a codec.
    public init(_ error: ImageCodecError, of address: ImageAddress) {
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
