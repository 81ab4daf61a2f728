#if Observability
import Synchronization
import Testing

@testable import InwardObservability

struct InstrumentsTests {
    /// Makes instruments, which are described by their labels, and records them.
    private final class Factory: Sendable {
        private let names = Mutex<[String]>([])

        var made: [String] { names.withLock(\.self) }

        func make(_ dimensions: [(String, String)]) -> String {
            let name = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
            names.withLock { $0.append(name) }
            return name
        }
    }

    private let factory = Factory()

    private func instruments(limit: Int) -> Instruments<String> {
        Instruments(labels: ["a", "b"], limit: limit) { [factory] in factory.make($0) }
    }

    @Test func instrumentIsMadeOncePerLabelSet() {
        let instruments = instruments(limit: 10)
        #expect(instruments[["1", "2"]] == "a=1,b=2")
        #expect(instruments[["2", "1"]] == "a=2,b=1")
        #expect(instruments[["1", "2"]] == "a=1,b=2")
        #expect(factory.made == ["a=1,b=2", "a=2,b=1"])
    }

    @Test func labelSetsBeyondTheLimitShareAnInstrument() {
        let instruments = instruments(limit: 2)
        for value in 1...1_000 { _ = instruments[["\(value)", ""]] }
        #expect(factory.made == ["a=1,b=", "a=2,b=", "a=_OTHER,b=_OTHER"])
        #expect(instruments[["2", ""]] == "a=2,b=")
        #expect(instruments[["3", ""]] == "a=_OTHER,b=_OTHER")
    }

    @Test(arguments: [0, -1, .min]) func limitIsAtLeastOne(limit: Int) {
        let instruments = instruments(limit: limit)
        #expect(instruments[["1", ""]] == "a=1,b=")
        #expect(instruments[["2", ""]] == "a=_OTHER,b=_OTHER")
    }

    @Test func instrumentIsMadeOutsideTheLockAndCountsTowardsTheLimit() {
        let others = Mutex<Instruments<String>?>(nil)
        let instruments = Instruments<String>(labels: ["a"], limit: 2) { [factory] dimensions in
            let name = factory.make(dimensions)
            guard let others = others.withLock(\.self), name == "a=1" else { return name }
            return ([name] + ["2", "3"].map { others[[$0]] }).joined(separator: " ")
        }
        others.withLock { $0 = instruments }
        #expect(instruments[["1"]] == "a=1 a=2 a=_OTHER")
        #expect(factory.made == ["a=1", "a=2", "a=_OTHER"])
    }
}
#endif
