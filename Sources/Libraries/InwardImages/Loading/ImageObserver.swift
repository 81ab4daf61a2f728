import InwardCore

/// An observer of image loads and of the memory that they use.
///
/// ```swift
/// struct SlowLoadLogger: ImageObserver {
///     func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {
///         guard load.report.duration > .seconds(1) else { return }
///         print("\(address): \(load.report.duration), \(load.report.steps)")
///     }
/// }
///
/// let budget = DecodingBudget(observer: SlowLoadLogger())
/// let loader = ImageLoader(source: source, codec: codec, budget: budget, observer: SlowLoadLogger())
/// ```
///
/// All methods have default implementations, so implement only those that you need. They are called from many tasks at once,
/// and loads wait for them, so return quickly.
public protocol ImageObserver: Sendable {
    /// Wraps each load, including prefetches.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - load: Loads the image. Call it once.
    /// - Returns: The result of `load`.
    func surroundLoad(_ address: ImageAddress, _ load: () async -> ImageLoad) async -> ImageLoad

    /// Called when a load has ended. Each prefetched image counts as a load.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - load: The result and the report with its steps: the fetch, the decoding, and each plugin.
    func loadEnded(_ address: ImageAddress, _ load: ImageLoad)

    /// Called when memory is reserved or returned, and when a load starts or stops waiting for memory.
    ///
    /// One call can stand for several concurrent changes. The last call always reports the latest state.
    ///
    /// - Parameters:
    ///   - part: The part of the budget.
    ///   - status: The reserved memory and the number of waiting loads.
    func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status)
}

extension ImageObserver {
    /// Returns the result of `load`.
    public func surroundLoad(_ address: ImageAddress, _ load: () async -> ImageLoad) async -> ImageLoad {
        await load()
    }
    /// Does nothing.
    public func loadEnded(_ address: ImageAddress, _ load: ImageLoad) {}
    /// Does nothing.
    public func budgetChanged(_ part: DecodingBudget.Part, _ status: DecodingBudget.Status) {}
}

/// A report of an image load: its steps in order, and how long they took.
///
/// ```swift
/// let report = await loader.load("avatars/7.jpg").report
/// print("\(report.duration): \(report.steps)")  // Such as [fetch (shared), decode (shared), Orient, Resize]
/// if report.steps.first?.origin == .memory { print("Answered from memory.") }
/// ```
public struct ImageLoadReport: Hashable, Sendable {
    /// Where the result of a step came from.
    public enum Origin: Hashable, Sendable {
        /// This load performed the step.
        case done
        /// A concurrent load performed the step, and this load shares its result.
        case shared
        /// The result was cached in memory.
        case memory
        /// The result was in the image data cache.
        case store
    }

    /// The steps in order. If the result of a step was cached, the steps before it are omitted.
    public let steps: [Step]
    /// The size of the resulting image, or `nil` if the load failed.
    public let size: ImageSize?
    /// The duration of the load, including waits.
    public let duration: Duration
}

extension ImageLoadReport {
    /// A step of a load.
    public struct Step: Hashable, Sendable, CustomStringConvertible {
        /// The name of the step: `fetch`, `decode`, `store`, or the type of a plugin.
        public let name: String
        /// Where the result came from.
        public let origin: Origin
        /// How long the step took in the load that performed it.
        public let duration: Duration
        /// The number of bytes of the result: encoded for a fetch, four per pixel otherwise, or 0 if the step failed.
        public let bytes: Int

        /// The name of the step, followed by its origin unless that is ``Origin/done``.
        public var description: String { origin == .done ? name : "\(name) (\(origin))" }

        /// The step as it appears in the report of a load that shared its result.
        var shared: Step {
            guard origin == .done else { return self }
            return Step(name: name, origin: .shared, duration: duration, bytes: bytes)
        }

        static func memory(_ name: String, _ image: Image) -> Step {
            Step(name: name, origin: .memory, duration: .zero, bytes: image.size.byteCount)
        }

        /// Returns the name of a plugin's step.
        static func name(of plugin: any Plugin<ImageResult>) -> String {
            String(describing: type(of: plugin))
        }
    }
}

/// The result of a load and its report.
///
/// ```swift
/// let load = await loader.load("avatars/7.jpg")
/// switch load.result {
/// case .success(let image): print(image.size)
/// case .failure(let error): print("\(error) Steps before the failure: \(load.report.steps)")
/// }
/// ```
public struct ImageLoad: Sendable {
    /// The image, or the error that prevented it.
    public let result: ImageResult
    /// The report of the load.
    public let report: ImageLoadReport
}

extension ImageResult {
    /// The number of bytes of the image, or 0 for an error.
    var byteCount: Int {
        if case .success(let image) = self { image.size.byteCount } else { 0 }
    }
}
