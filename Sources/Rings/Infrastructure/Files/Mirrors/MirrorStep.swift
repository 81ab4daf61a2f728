/// A step in the making of a mirror.
enum MirrorStep: CaseIterable, Sendable {
    /// The mirror there is was checked, and nothing is made yet.
    case checked
    /// The staging directory is open and locked.
    case locked
    /// The directory for the new mirror is open.
    case prepared
    /// An item is about to be saved.
    case saving
    /// All items are there, and the list is about to be saved.
    case listing
    /// Both mirrors were checked, and the new one is about to be put in its place.
    case publishing
    /// The old mirror was moved away, and the new one is about to take its place.
    case moved
    /// Both mirrors have changed places, and the old one is about to be checked once more.
    case exchanged
}
