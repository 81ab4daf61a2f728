import Synchronization

/// Where chance comes from, so that those who fail together do not come back together.
public struct Jitter: Sendable {
    private final class Source<Generator: RandomNumberGenerator & Sendable>: Sendable {
        private let generator: Mutex<Generator>

        init(_ generator: Generator) {
            self.generator = Mutex(generator)
        }

        package func fraction() -> Double { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    }

    /// Chance that nobody can tell in advance: the system's generator.
    public static let random = Self { Double.random(in: 0..<1) }

    private let draw: @Sendable () -> Double

    /// Makes jitter of a function that gives another number from 0 up to but not including 1 each time.
    ///
    /// A number below counts as 0, one above as the largest below 1, and what is no number as 0.
    public init(_ draw: @escaping @Sendable () -> Double) {
        self.draw = draw
    }

    /// Makes jitter that follows from a generator, such as one with a seed in a test.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        self.init(Source(generator).fraction)
    }

    /// Another number from 0 up to but not including 1.
    package func fraction() -> Double {
        let fraction = draw()
        return fraction > 0 ? min(fraction, 1.0.nextDown) : 0
    }
}
