import InwardTesting
import Testing
import Thoroughness

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct MergePatchTests {
    private func applied(_ patch: String, to target: String) throws -> String? {
        let patch = try #require(MergePatch(Data(patch.utf8)))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return patch.applied(to: Data(target.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The examples of RFC 7396, appendix A, except those whose result is an object with several members.
    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        ("[1,2]", #"{"a":"b","c":null}"#, #"{"a":"b"}"#), ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ])
    func patchIsAppliedAsRFC7396Says(target: String, patch: String, result: String) throws {
        #expect(try applied(patch, to: target) == result)
    }

    @Test func patchContainsOnlyTheChangedFields() throws {
        let old = Data(#"{"id":1,"text":"a","place":{"city":"x","zip":"1"},"gone":true,"price":0.1}"#.utf8)
        let new = Data(#"{"id":1,"text":"b","place":{"city":"y","zip":"1"},"price":0.1,"new":[1]}"#.utf8)
        let patch = try #require(MergePatch(from: old, to: new))
        let text = String(decoding: try patch.encoded(), as: UTF8.self)
        #expect(text == #"{"gone":null,"new":[1],"place":{"city":"y"},"text":"b"}"#)
        #expect(MergePatch(from: old, to: old)?.isEmpty == true && !patch.isEmpty)
    }

    @Test func invalidJSONIsNotAPatch() {
        #expect(MergePatch(Data("{".utf8)) == nil)
        #expect(MergePatch(from: Data("{}".utf8), to: Data("<".utf8)) == nil)
        #expect(MergePatch(Data("{}".utf8))?.applied(to: Data("<".utf8)) == nil)
    }

    /// Applying a patch to its source produces its target.
    @Test(arguments: [UInt64(1), 2, .random(in: 3 ... .max)])
    func patchTurnsOneValueIntoTheOther(seed: UInt64) throws {
        struct Record: Codable, Equatable {
            var a: Int?
            var b: [String: Int?]
            var c: [Double]?
            var d: String
        }
        var random = SplitMix64(seed: seed)
        func record() -> Record {
            Record(
                a: Bool.random(using: &random) ? .random(in: .min ... .max, using: &random) : nil,
                b: Dictionary(
                    ["x", "y", "z"].map { ($0, Int.random(in: 0...2, using: &random)) },
                    uniquingKeysWith: { first, _ in first }
                )
                .filter { _ in Bool.random(using: &random) },
                c: Bool.random(using: &random) ? [.random(in: 0...1, using: &random), 2] : nil,
                d: "\(Int.random(in: 0...2, using: &random))"
            )
        }
        for _ in 0..<(Thoroughness.isExhaustive ? 200 : 60) {
            let (old, new) = (record(), record())
            let (before, after) = (try JSONEncoder().encode(old), try JSONEncoder().encode(new))
            let made = try #require(MergePatch(from: before, to: after))
            let patch = try #require(MergePatch(try made.encoded()))
            let result = try #require(patch.applied(to: before))
            #expect(try JSONDecoder().decode(Record.self, from: result) == new, "seed \(seed)")
        }
    }
}
