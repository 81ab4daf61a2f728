import InwardImages

extension ImageFormat {
    /// The form that bytes claim to be in by how they begin, where libvips does not tell it of those that it cannot read: of
    /// TIFF it reads more to recognize it, and AVIF and HEIF are one to it.
    init?(claimedBy bytes: [UInt8]) {
        if bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 42]) {
            self = .tiff
        } else if bytes.dropFirst(4).starts(with: "ftypavif".utf8) || bytes.dropFirst(4).starts(with: "ftypavis".utf8) {
            self = .avif
        } else {
            return nil
        }
    }
}
