/// What SwiftPM printed of a package is not what was expected.
public struct PackageDescriptionError: Error, Hashable, Sendable {
    /// What is wrong, in a sentence.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension PackageDescriptionError: CustomStringConvertible {
    /// What is wrong.
    public var description: String { explanation }
}
