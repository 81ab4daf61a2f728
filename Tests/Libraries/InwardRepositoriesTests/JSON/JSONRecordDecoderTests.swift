import Foundation
import InwardTesting
import Testing

@testable import InwardRepositories

/// Foundation's decoder decides what is right.
struct JSONRecordDecoderTests {
    /// A member `a` of some type.
    private struct One<Value: Decodable & Equatable>: Decodable, Equatable {
        let a: Value
    }

    private struct Everything: Codable, Equatable {
        enum Kind: String, Codable { case new, old }
        struct Part: Codable, Equatable { let x: Double, y: Float? }

        let truth: Bool
        let text: String
        let counts: [Int]
        let small: Int8, large: UInt64, number: Decimal
        let when: Date, link: URL, bytes: Data
        let kind: Kind
        let parts: [String: Part]
        let byNumber: [Int: String]
        let absent: String?
        let lists: [[Bool?]]
    }

    private func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ json: String) -> Result<Value, any Error> {
        Result { try JSONRecordDecoder.decode(type, from: Data(json.utf8)) }
    }

    /// Expects the same value as from Foundation's decoder, or an error where it has one.
    private func expectSame<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ json: Data,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let expected = try? JSONDecoder().decode(type, from: json)
        let decoded = try? JSONRecordDecoder.decode(type, from: json)
        let text = String(decoding: json, as: UTF8.self)
        #expect(decoded == expected, "\(type) from \(text)", sourceLocation: location)
    }

    @Test func valuesOfAllKindsAreDecodedAsByFoundation() throws {
        let value = Everything(
            truth: true,
            text: "A “quote”, a\ttab, \u{1F600} and \\",
            counts: [0, -1, .max, .min],
            small: -128,
            large: .max,
            number: try #require(Decimal(string: "0.1234567890123456789012345678")),
            when: Date(timeIntervalSinceReferenceDate: 1.5),
            link: try #require(URL(string: "https://example.com/a?b=c")),
            bytes: Data([0, 1, 254]),
            kind: .old,
            parts: ["one": .init(x: 0.1, y: nil), "two/three": .init(x: -1e300, y: 0.1)],
            byNumber: [1: "one", 20: "twenty"],
            absent: nil,
            lists: [[], [true, nil], [false]]
        )
        let json = try JSONEncoder().encode(value)
        #expect(try JSONRecordDecoder.decode(Everything.self, from: json) == value)
        expectSame(Everything.self, json)
    }

    @Test(arguments: [
        "0", "-0", "7", "-7", "1.0", "-1.50", "1.5", "1e3", "1E+2", "1e-2", "120e-1", "9007199254740993.0", "127",
        "128", "-128", "-129",
        "255", "256", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "170141183460469231731687303715884105728",
        "340282366920938463463374607431768211455", "340282366920938463463374607431768211456",
        "123456789012345678901234567890", "10000000000000000e-16",
        "1e18", "1e19",
        "1e308", "1e309", "-1e309", "3.4028235e38", "3.5e38", "0.1", "0e9999999999999999999",
        "1e9999999999999999999",
        "01", "-01", "00", "1.", ".1", "-", "-.1", "1e", "1e+", "+1", "1.e1", "1-2", "1.2.3", "1ee1", "0x1", "1_000",
        "NaN", "Infinity",
        "true", "false", "null", "\"1\"", "[]", "{}", "tru", "nul", "truee", "",
    ])
    func numbersAreDecodedAsByFoundation(_ text: String) {
        for json in ["{\"a\":\(text)}", "{\"a\" : \(text) , \"b\": 1}", "{\"b\":\(text),\"a\":1}"].map({ Data($0.utf8) }
        ) {
            expectSame(One<Int>.self, json)
            expectSame(One<Int8>.self, json)
            expectSame(One<UInt8>.self, json)
            expectSame(One<UInt64>.self, json)
            expectSame(One<Int128>.self, json)
            expectSame(One<UInt128>.self, json)
            expectSame(One<Double>.self, json)
            expectSame(One<Float>.self, json)
            expectSame(One<Bool>.self, json)
            expectSame(One<Int?>.self, json)
            expectSame(One<Decimal>.self, json)
        }
        expectSame(Int.self, Data(text.utf8))
        expectSame([Int].self, Data("[\(text)]".utf8))
        expectSame([Double].self, Data("[0,\(text)]".utf8))
    }

    /// Foundation rounds it to a floating-point number, and decodes that as an integer.
    @Test func numberWithAFractionIsNoIntegerEvenIfAFloatingPointNumberLosesTheFraction() throws {
        let json = Data("[999999999.99999999999]".utf8)
        #expect(try JSONRecordDecoder.decode([Double].self, from: json) == [1e9])
        #expect(throws: DecodingError.self) { try JSONRecordDecoder.decode([Int].self, from: json) }
    }

    /// Foundation decodes this as the integer 0, and does not decode it as a floating-point number.
    @Test func numberTooSmallForItsTypeIsZeroButNotAnInteger() throws {
        let json = Data("[1e-400]".utf8)
        #expect(try JSONRecordDecoder.decode([Double].self, from: json) == [0])
        #expect(throws: DecodingError.self) { try JSONRecordDecoder.decode([Int].self, from: json) }
    }

    @Test(arguments: [
        #"x"#, #""#, #"\"\\\/\b\f\n\r\t"#, #"\u0041\u00e9\u20AC"#, #"\ud83d\ude00"#, #"\ud83d"#, #"\ud83dx"#,
        #"\ud83d\u0041"#, #"\ude00"#,
        #"\u12g4"#, #"\q"#, #"\"#, #"a\"#, "a\u{1}b", "a\tb", "é\u{1F600}e\u{301}", "\u{7F}\u{2028}",
        #"\u0000"#, #"\uFFFF"#,
    ])
    func stringsAreDecodedAsByFoundation(_ text: String) {
        expectSame(One<String>.self, Data("{\"a\":\"\(text)\"}".utf8))
        expectSame(One<Int>.self, Data("{\"b\":\"\(text)\",\"a\":1}".utf8))
        expectSame([String: Int].self, Data("{\"\(text)\":1}".utf8))
        expectSame(One<Int>.self, Data("{\"\(text)\":2,\"a\":1}".utf8))
        expectSame([String].self, Data("[\"\(text)\",\"\(text)\"]".utf8))
        expectSame(One<URL>.self, Data("{\"a\":\"\(text)\"}".utf8))
        expectSame(One<Data>.self, Data("{\"a\":\"\(text)\"}".utf8))
    }

    @Test(arguments: [
        #"{"a":1}x"#, #"{"a":1,}"#, "[1,]", "[,]", "{,}", "[1,,2]", "[1 2]", #"{"a":1"b":2}"#, #"{"a",1}"#,
        #"{"a":1:2}"#, "{1:2}", "[", "]", "{",
        "}", "[}", "{]", "[[]", #"{"a":[1,{"b":2}]}"#, #"{"a":1"#, #"{"a":"#, #"{"a"#, #"{""#, " \t\r\n[ 1 , 2 ] \n",
        "\u{B}[1]", "\u{FEFF}[1]",
        #"{"a":1,"a":2}"#, #"{"\u0061":1}"#, #"{"A":1}"#, "[1]\0", "/**/[1]", "'a'", "[1]]",
        #"{"a":{"a":{}},"b":[[],[]]}"#,
    ])
    func syntaxIsThatOfFoundation(_ json: String) {
        let json = Data(json.utf8)
        expectSame([Int].self, json)
        expectSame(One<Int>.self, json)
        expectSame([String: Int].self, json)
        expectSame(Ignored.self, json)
    }

    /// A value of which only the syntax counts.
    private struct Ignored: Decodable, Equatable {
        init(from decoder: any Decoder) throws {}
    }

    @Test(arguments: [
        String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ])
    func otherEncodingsAreDecoded(_ encoding: String.Encoding) throws {
        let json = try #require(#"{"a": "Größe"}"#.data(using: encoding))
        #expect(try JSONRecordDecoder.decode(One<String>.self, from: json) == One(a: "Größe"))
    }

    /// Foundation does not find the end of such a string, and decodes nothing of the text.
    @Test(arguments: [#"\u12"#, #"\u"#])
    func unreadStringWithAnIncompleteEscapeIsIgnored(_ text: String) {
        #expect(throws: DecodingError.self) { try decode(One<String>.self, "{\"a\":\"\(text)\"}").get() }
        #expect(throws: Never.self) { try decode(One<Int>.self, "{\"b\":\"\(text)\",\"a\":1}").get() }
    }

    @Test func bytesThatAreNotUnicodeCostOnlyTheirString() {
        let json = Data(#"{"b":""#.utf8) + [0xFF] + Data(#"","a":1}"#.utf8)
        expectSame(One<Int>.self, json)
        expectSame([String: String].self, json)
    }

    @Test(arguments: [511, 512, 513])
    func depthIsLimitedAsByFoundation(_ depth: Int) {
        expectSame(
            Ignored.self,
            Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        )
        expectSame(
            Ignored.self,
            Data((String(repeating: #"{"":"#, count: depth) + "1" + String(repeating: "}", count: depth)).utf8)
        )
    }

    @Test(arguments: [1, 15, 16, 17, 100])
    func objectsOfAnySizeFindTheirMembers(_ count: Int) throws {
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { ("name \($0)", $0) })
        let members = values.map { "\"\($0.key)\": \($0.value)" } + ["\"name 0\": -1"]
        let json = Data("{\(members.joined(separator: ", "))}".utf8)
        #expect(try JSONRecordDecoder.decode([String: Int].self, from: json) == values)
        let last = try JSONRecordDecoder.decode(
            Last.self,
            from: Data("{\(members.joined(separator: ",")),\"last\":[9]}".utf8)
        )
        #expect(last == Last(last: [9], other: nil))
    }

    private struct Last: Decodable, Equatable {
        let last: [Int]
        let other: Int?
    }

    @Test func classesDecodeTheirSuperclass() throws {
        class Base: Codable {
            var x = 1
            init() {}
        }
        final class Derived: Base {
            private enum CodingKeys: String, CodingKey { case y }
            var y = 2
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                y = try container.decode(Int.self, forKey: .y)
                try super.init(from: container.superDecoder())
            }
        }
        let derived = try JSONRecordDecoder.decode(Derived.self, from: Data(#"{"y": 20, "super": {"x": 10}}"#.utf8))
        #expect(derived.x == 10)
        #expect(derived.y == 20)
    }

    @Test func superclassMayNeedNothing() throws {
        struct Derived: Decodable, Equatable {
            enum Key: String, CodingKey { case a, b }

            let areNull: [Bool]

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                areNull = [
                    try container.superDecoder().singleValueContainer().decodeNil(),
                    try container.superDecoder(forKey: .a).singleValueContainer().decodeNil(),
                    try container.superDecoder(forKey: .b).singleValueContainer().decodeNil(),
                ]
            }
        }
        let json = Data(#"{"a": 1}"#.utf8)
        #expect(try JSONRecordDecoder.decode(Derived.self, from: json).areNull == [true, false, true] as [Bool])
        expectSame(Derived.self, json)
    }

    /// Names with many combining marks take quadratic time to compare by the rules of Unicode.
    @Test func namesAreComparedByTheirBytes() throws {
        let json = Data("{\"e\u{301}\": 1, \"\u{E9}\": 2, \"a\": 3}".utf8)
        struct Accented: Decodable, Equatable {
            enum CodingKeys: String, CodingKey {
                case composed = "\u{E9}"
                case decomposed = "e\u{301}"
                case a
            }

            let composed: Int
            let decomposed: Int
            let a: Int
        }
        // The two cases have equal names by the rules of Unicode, so a key for both cannot be made from its name.
        let accented = try JSONRecordDecoder.decode(Accented.self, from: json)
        #expect(accented == Accented(composed: 2, decomposed: 1, a: 3))
    }

    /// Decodes with every kind of nested container.
    private struct Nested: Decodable, Equatable {
        enum Key: String, CodingKey { case object, list }

        let numbers: [Int]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let object = try container.nestedContainer(keyedBy: Key.self, forKey: .object)
            var inner = try object.nestedUnkeyedContainer(forKey: .list)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            let first = try list.nestedContainer(keyedBy: Key.self)
            var second = try list.nestedUnkeyedContainer()
            let isNull = try (list.decodeNil(), list.decodeNil())
            let numbers = [
                try inner.decode(Int.self), inner.currentIndex, list.count ?? -1,
                try first.decode(Int.self, forKey: .list),
                try second.decode(Int.self), second.isAtEnd ? 1 : 0, isNull.0 ? 1 : 0, isNull.1 ? 1 : 0,
                list.currentIndex,
                try container.superDecoder(forKey: .object).container(keyedBy: Key.self).allKeys.count,
            ]
            self.numbers = numbers
        }
    }

    @Test func containersNest() throws {
        let json = Data(#"{"object": {"list": [1, 2], "x": 0}, "list": [{"list": 3}, [4], null, 5]}"#.utf8)
        let nested = try JSONRecordDecoder.decode(Nested.self, from: json)
        #expect(nested.numbers == [1, 1, 4, 3, 4, 1, 1, 0, 3, 1] as [Int])
        expectSame(Nested.self, json)
    }

    @Test(arguments: [
        (#"{"a":[{"b":[0, "x"]}]}"#, "a.0.b.1 typeMismatch Int"), (#"{"a":[{"b":[1.5]}]}"#, "a.0.b.0 typeMismatch Int"),
        (#"{"a":[{"b":[1, null]}]}"#, "a.0.b.1 valueNotFound Int"), (#"{"a":[{}]}"#, "a.0 keyNotFound b"),
        (#"{"a":[[]]}"#, "a.0 typeMismatch Dictionary<String, Any>"),
        (#"{"a":[{"b":{}}]}"#, "a.0.b typeMismatch Array<Any>"),
        (#"{"a":[{"b":[3000000000000000000000]}]}"#, "a.0.b.0 typeMismatch Int"),
        (#"{"a":null}"#, "a valueNotFound Array<Any>"), ("[", " dataCorrupted"),
        (#"{"a":[{"b":[1],"c":"\ud800"}]}"#, "a.0.c typeMismatch String"),
        (#"{"a":[{"b":[1],"c":1}]}"#, "a.0.c typeMismatch String"),
    ])
    func errorsHaveThePathOfTheField(json: String, error: String) {
        struct Inner: Decodable { let b: [Int], c: String? }
        struct Outer: Decodable { let a: [Inner] }
        #expect(throws: (any Error).self) { try decode(Outer.self, json).get() }
        guard case .failure(let thrown as DecodingError) = decode(Outer.self, json) else { return }
        #expect(text(of: thrown) == error)
    }

    private func text(of error: DecodingError) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .typeMismatch(let type, let context): "\(path(context)) typeMismatch \(type)"
        case .valueNotFound(let type, let context): "\(path(context)) valueNotFound \(type)"
        case .keyNotFound(let key, let context): "\(path(context)) keyNotFound \(key.stringValue)"
        case .dataCorrupted(let context): "\(path(context)) dataCorrupted"
        @unknown default: "\(error)"
        }
    }

    @Test func readingAfterTheLastElementIsAnError() {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                for _ in 0..<2 { _ = try list.decode(Int.self) }
            }
        }
        #expect(throws: DecodingError.self) { try decode(Pair.self, "[1]").get() }
        #expect(throws: Never.self) { try decode(Pair.self, "[1, 2]").get() }
    }

    /// Damages a text in many ways. Without `\u`, which Foundation treats differently if it is incomplete.
    @Test func damagedTextsAreDecodedAsByFoundation() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix64(seed: seed)
        let texts = [
            #"[{"a":1,"text":"one \"two\" \\ \/"},{"a":-2.50,"text":"é\n"},{"text":null,"a":true}]"#,
            #"{"a":[1,2,3,{"b":{"c":[]}}],"text":"x","é":{"a":"\b"}}"#,
        ].map { Array($0.utf8) }
        let letters = Array(#"{}[]:,"\0123456789.eE+-trefalsn "#.utf8) + [0, 0x80, 0xC3, 0xFF]
        for _ in 0..<(ProcessInfo.processInfo.environment["MUTATIONS"] == "all" ? 100_000 : 1_000) {
            var text = texts.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) where !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[place] = letters.randomElement(using: &random) ?? 0
                case 1: text.insert(letters.randomElement(using: &random) ?? 0, at: place)
                case 2: text.remove(at: place)
                default: text.removeLast(text.count - place)
                }
            }
            let json = Data(text)
            #expect(
                Tree(JSONRecordDecoder.self, json) == Tree(JSONDecoder.self, json),
                "seed \(seed): \(String(decoding: text, as: UTF8.self))"
            )
        }
    }

    /// Everything that can be read from a text.
    private indirect enum Tree: Decodable, Equatable {
        case null, truth(Bool), whole(Int), number(Double), text(String), list([Tree]), object([String: Tree]), other

        init?(_: JSONDecoder.Type, _ json: Data) {
            guard let tree = try? JSONDecoder().decode(Tree.self, from: json) else { return nil }
            self = tree
        }

        init?(_: JSONRecordDecoder.Type, _ json: Data) {
            guard let tree = try? JSONRecordDecoder.decode(Tree.self, from: json) else { return nil }
            self = tree
        }

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let truth = try? value.decode(Bool.self) {
                self = .truth(truth)
            } else if let whole = try? value.decode(Int.self) {
                self = .whole(whole)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let list = try? value.decode([Tree].self) {
                self = .list(list)
            } else if let object = try? value.decode([String: Tree].self) {
                self = .object(object)
            } else {
                self = .other
            }
        }
    }
}
