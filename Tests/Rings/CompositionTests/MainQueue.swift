import Dispatch

/// The main queue, which the main actor is served by, on the main thread or not.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller is on it.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
