/// The port that makes changes to several repositories one.
///
/// A repository prepares a change, which changes nothing yet; a unit of work commits several, of one repository or of many:
///
///     let post = try await posts.prepareToPublish(draft)
///     let note = try await notes.prepareToRemove(noteID)
///     try await unitOfWork.commit([post, note])
///
/// It is values and calls alone: nothing is found around, and what was not handed over is not part of it.
///
/// Whoever implements it makes all of the changes or none, also when the process ends in the middle; they are as durable as the
/// place where they are kept when the call returns, and the readers of all the repositories see them then. Who reads two of them
/// while it is being called may find the changes in one and not yet in the other. Calls may come from anywhere at the same time.
/// `UnitOfWorkConformance` in `InwardTesting` checks all this.
public protocol UnitOfWork: Sendable {
    /// Makes changes in their order, all of them or none.
    ///
    /// A change may be committed again after a commit that failed. One that is committed twice is made twice.
    ///
    /// - Throws: a ``UnitOfWorkError`` if nothing was changed. A task that is cancelled meanwhile still gets them made, unless
    ///   it is ``UnitOfWorkError/Reason/cancelled``.
    func commit(_ changes: [any PreparedChange]) async throws(UnitOfWorkError)
}
