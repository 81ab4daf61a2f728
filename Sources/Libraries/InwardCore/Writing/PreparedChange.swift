/// A change that a repository has prepared and nobody has made yet: for a ``UnitOfWork`` to commit.
///
/// What it says is between the repository and the unit of work. To everybody else it is a value that is handed on, and may be
/// dropped: then nothing happens.
///
/// Its description says what is changed, as a part of a sentence: `the publication of a post`. Free of credentials.
public protocol PreparedChange: Sendable, CustomStringConvertible {}
