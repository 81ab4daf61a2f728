import InwardImages

extension ImageCodecError {
    /// That a JPEG file breaks the rules, and how.
    static func damagedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.jpeg), explanation)
    }

    /// That a JPEG file ends before its picture, and where.
    static func truncatedJPEG(at position: Int) -> ImageCodecError {
        ImageCodecError(.truncated(.jpeg), "ends early, at byte \(position)")
    }

    /// That a JPEG file has what is not read here.
    static func unsupportedJPEG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.unsupported(.jpeg), explanation)
    }
}
