/// The port through which data comes in piece by piece, from a file or from the network. Who has it sees no way to write.
///
/// Whoever implements it holds no more than a piece at a time, and ends a wait with an error when the task that loads is
/// cancelled or its deadline passes. A loader is used from many tasks at once. Check an implementation with
/// `DataLoaderConformance` of the product `InwardTesting`.
public protocol DataLoader: Sendable {
    /// What the source is called, free of credentials and the same in each run, so that a transfer can be taken up by another run;
    /// `nil` if it has no such name.
    var source: String? { get }

    /// A piece of the data from an offset on.
    ///
    /// It may begin earlier than it was asked for, and it may be of another version than it was asked for: then it begins wherever
    /// the loader likes, best with the first byte. All bytes of a piece are of the version that it names. What has no
    /// validator comes in one piece that is the first and the last, because nothing could tell that two belong together. Only the
    /// last piece of a version may be without a byte.
    ///
    /// - Parameters:
    ///   - offset: How many bytes come before it. At the end of the data, the piece is the last and has no byte.
    ///   - validator: What the earlier pieces named; `nil` for any version.
    /// - Returns: the piece, with the version that it is of.
    /// - Throws: a ``DataLoaderError`` if there is none.
    func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece

    /// Whether the source has no other version than the one with this validator.
    ///
    /// - Throws: a ``DataLoaderError`` if that is not known.
    func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool
}

extension DataLoader {
    /// Whether the first piece names the version.
    public func stillHas(_ validator: String) async throws(DataLoaderError) -> Bool {
        try await piece(at: 0, of: validator).validator == validator
    }
}
