/// What a view shows: texts and numbers that are ready, in a form that each renderer makes its own of.
///
/// Encoded, it is the view for programs; its ``document`` is the view for people.
public protocol ViewModel: Encodable, Sendable {
    /// What is shown to people.
    var document: Document { get }
}
