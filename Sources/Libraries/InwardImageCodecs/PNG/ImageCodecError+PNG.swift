import InwardImages

extension ImageCodecError {
    /// A PNG breaks a rule, which the end of a sentence says.
    static func damagedPNG(_ explanation: String) -> ImageCodecError {
        ImageCodecError(.damaged(.png), explanation)
    }
}
