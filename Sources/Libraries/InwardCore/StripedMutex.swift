public import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sixteen values, each behind a lock of its own. A thread always uses the same one. Few threads share one, so threads seldom wait for
/// each other or write to the same cache line.
@usableFromInline
package final class StripedMutex<Value: Sendable>: Sendable {
    @usableFromInline
    final class Stripe: Sendable {
        /// Keeps the lock out of the cache lines of other objects. These lines have 64 bytes, or 128 on Apple silicon.
        private let paddingBefore = (SIMD64<UInt8>(), SIMD64<UInt8>())
        @usableFromInline let mutex: Mutex<Value>
        private let paddingAfter = (SIMD64<UInt8>(), SIMD64<UInt8>())

        init(_ value: Value) {
            mutex = Mutex(value)
        }
    }

    private static var stripeCountLog2: Int { 4 }

    @usableFromInline let stripes: [Stripe]

    /// Creates stripes that all have the same value.
    package init(_ value: Value) {
        stripes = (0..<(1 << Self.stripeCountLog2)).map { _ in Stripe(value) }
    }

    /// The position of the stripe of the calling thread.
    @usableFromInline
    func place() -> Int {
        // The address of a thread. Its lower bits are equal for all threads. The upper bits of the product depend on all bits
        // (Fibonacci hashing).
        #if canImport(Glibc)
        let thread = UInt64(pthread_self())
        #else
        // `unsafe`: only the address is used, and nothing is read through it.
        let thread = UInt64(UInt(bitPattern: unsafe pthread_self()))
        #endif
        return Int((thread &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.stripeCountLog2))
    }

    /// Calls a closure with the value of the calling thread.
    @inlinable
    package func withLock<Outcome: Sendable>(_ body: (inout Value) -> Outcome) -> Outcome {
        stripes[place()].mutex.withLock { body(&$0) }
    }

    /// Calls a closure with each value, one after the other.
    package func withEachLock(_ body: (inout Value) -> Void) {
        for stripe in stripes { stripe.mutex.withLock { body(&$0) } }
    }
}
