/// Data that is being saved piece by piece, and that nobody sees before it is whole. It belongs to one task.
///
/// What is seen in its place until then is what was there before.
public protocol DataDraft {
    /// What an earlier draft of the same saver left, as far as it is found again just as it was written; `nil` if that is nothing.
    ///
    /// The draft goes on behind it, unless it is begun.
    var saved: SavedPart? { get }

    /// Begins with nothing, and forgets what there was.
    ///
    /// - Throws: a ``DataSaverError`` if that is not possible.
    mutating func begin() async throws(DataSaverError)

    /// Adds the bytes that come next.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which may be none.
    ///   - part: What the draft is with them. It is what a later draft will find, if this one ends here; what can be found
    ///     again may be less.
    /// - Throws: a ``DataSaverError`` if they cannot be written.
    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError)

    /// Reads back what was written, compares it, and puts it where everybody sees it.
    ///
    /// - Parameter checksum: The checksum of all that was written.
    /// - Throws: a ``DataSaverError`` if it is not known to be there. What was written is then of no use, if it was not the same.
    mutating func publish(_ checksum: Checksum) async throws(DataSaverError)

    /// Ends the draft without publishing it, and leaves what a later one can go on from. It works in a cancelled task too, as far
    /// as that can be.
    mutating func leave() async
}
