import Infrastructure
import InwardTesting
import Synchronization
import Testing

struct InputLinesTests {
    /// An input that returns one part per read, and counts the reads.
    private final class Parts: Sendable {
        private let parts: Mutex<[[UInt8]]>
        private let reads = Mutex(0)

        init(_ parts: [[UInt8]]) {
            self.parts = Mutex(parts)
        }

        var readCount: Int { reads.withLock(\.self) }

        func read() -> [UInt8] {
            reads.withLock { $0 += 1 }
            return parts.withLock { $0.isEmpty ? [] : $0.removeFirst() }
        }
    }

    private func lines(_ parts: Parts, upTo byteLimit: Int = 100) -> InputLines {
        StandardInput { parts.read() }.lines(upTo: byteLimit)
    }

    /// Returns the lines of a text that arrives in parts. An overlong line is `nil`.
    private func texts(_ parts: String..., upTo byteLimit: Int = 100) async throws -> [String?] {
        var texts: [String?] = []
        for try await line in lines(Parts(parts.map { Array($0.utf8) }), upTo: byteLimit) {
            #expect(line.number == texts.count + 1)
            texts.append(line.bytes.map { String(decoding: $0, as: UTF8.self) })
        }
        return texts
    }

    @Test func linesEndAtALineFeedOrAtTheEndOfTheInput() async throws {
        #expect(try await texts() == [])
        #expect(try await texts("one\ntwo\n") == ["one", "two"])
        #expect(try await texts("one\n\nth", "ree") == ["one", "", "three"])
        #expect(try await texts("one\r\n", "two", upTo: .max) == ["one", "two"])
        #expect(try await texts("one\r\nt\rwo\r", "\n\r\n") == ["one", "t\rwo", ""])
    }

    @Test func overlongLineHasNoBytes() async throws {
        #expect(
            try await texts("1234\n12345\n123", "45\n1234\r\n12345\r\n1\n", upTo: 4) == [
                "1234", nil, nil, "1234", nil, "1",
            ]
        )
        #expect(try await texts("12345", upTo: 4) == [nil])
        #expect(try await texts("12", "34", "56", "78\n1", upTo: 4) == [nil, "1"])
    }

    @Test func inputIsReadOnlyOnDemand() async throws {
        let parts = Parts(["one\ntwo\n", "three\n"].map { Array($0.utf8) })
        var iterator = lines(parts).makeAsyncIterator()
        _ = try await iterator.next()
        _ = try await iterator.next()
        #expect(parts.readCount == 1)
        _ = try await iterator.next()
        #expect(parts.readCount == 2)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(parts.readCount == 3)
    }

    @Test func linesDoNotDependOnTheChunks() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let alphabet: [UInt8] = [UInt8(ascii: "a"), UInt8(ascii: "b"), 10, 13]
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 10
            }
            var parts: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &generator)
                parts.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let whole = try await lines(Parts([bytes]), upTo: 5).reduce(into: []) { $0.append($1) }
            let inParts = try await lines(Parts(parts), upTo: 5).reduce(into: []) { $0.append($1) }
            #expect(whole == inParts, "The seed was \(seed).")
        }
    }

    @Test func errorEndsTheLines() async throws {
        let input = StandardInput { () async throws(StandardInputError) in throw StandardInputError("nobody is there") }
        let error = await #expect(throws: StandardInputError.self) {
            for try await _ in input.lines(upTo: 10) {}
        }
        #expect(error?.description == "The input cannot be read: nobody is there.")
    }
}
