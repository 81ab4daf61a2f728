/// The port through which a mirror is kept.
public protocol MirrorStore: Sendable {
    /// Begins a new mirror beside the one there is, or goes on with one that an earlier run left.
    ///
    /// - Throws: a ``MirrorStoreError`` if that is not possible: because something else is kept in the place of the mirror, which is
    ///   left as it is, or somebody else is making one.
    func openStaging() async throws(MirrorStoreError) -> any MirrorStaging
}
