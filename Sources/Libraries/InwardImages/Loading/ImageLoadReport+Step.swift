import InwardCore

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
