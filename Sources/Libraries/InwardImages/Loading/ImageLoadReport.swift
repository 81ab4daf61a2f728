import InwardCore

/// What a load did: its steps in their order, and what they took.
public struct ImageLoadReport: Hashable, Sendable {
    /// Where the outcome of a step came from.
    public enum Origin: Hashable, Sendable {
        /// It was done for this load.
        case done
        /// It was done for another load at the same time.
        case shared
        /// It was done before, and kept in memory.
        case memory
        /// It was done before, and kept by the store.
        case store
    }

    /// The steps in their order. Those before one that was kept are not among them.
    public let steps: [Step]
    /// How large the image is that came of it; `nil` if none did.
    public let size: ImageSize?
    /// How long the load took, waits and all.
    public let duration: Duration
}

extension ImageLoadReport {
    /// Something a load consists of.
    public struct Step: Hashable, Sendable, CustomStringConvertible {
        /// What was done: `fetch`, `decode`, or the type of the plugin.
        public let name: String
        /// Where the outcome came from.
        public let origin: Origin
        /// How long it took whoever did it.
        public let duration: Duration
        /// How many bytes came of it: encoded if it is a fetch, and four for each pixel otherwise; 0 if it failed.
        public let bytes: Int

        /// The step in a few words.
        public var description: String { origin == .done ? name : "\(name) (\(origin))" }

        /// How it looks to whoever did not have it done.
        var shared: Step {
            guard origin == .done else { return self }
            return Step(name: name, origin: .shared, duration: duration, bytes: bytes)
        }

        static func memory(_ name: String, _ image: Image) -> Step {
            Step(name: name, origin: .memory, duration: .zero, bytes: image.size.byteCount)
        }

        /// What a plugin is called.
        static func name(of plugin: any Plugin<ImageResult>) -> String {
            String(describing: type(of: plugin))
        }
    }
}

/// An image or why there is none, and what was done for it.
public struct ImageLoad: Sendable {
    /// The image, or why there is none.
    public let result: ImageResult
    /// What was done for it.
    public let report: ImageLoadReport
}
