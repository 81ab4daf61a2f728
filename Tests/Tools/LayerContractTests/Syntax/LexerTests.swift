import Testing

@testable import LayerContract

struct LexerTests {
    @Test func listOfNumbersIsOneLiteral() throws {
        let list = String(repeating: "255, ", count: 10_000)
        let tokens = try Lexer.tokens(of: Array("let a = [\(list)0]".utf8))
        #expect(tokens.map(\.text) == ["let", "a", "=", "[", "", "]"])
    }

    @Test func consecutiveNumberSignsAreOneMark() throws {
        let tokens = try Lexer.tokens(of: Array(String(repeating: "#", count: 1_000).utf8))
        #expect(tokens.map(\.text) == ["#"])
    }

    @Test(arguments: ["let a: Int = 1 ", "class a: ", "struct A: B\n"])
    func declarationIsReadUpToALimit(piece: String) throws {
        let tokens = try Lexer.tokens(of: Array(String(repeating: piece, count: 1_000).utf8))
        #expect(DeclarationSignature(tokens, from: 1, of: .braced).isUnsettled)
        #expect(!DeclarationSignature(Array(tokens.prefix(200)), from: 1, of: .braced).isUnsettled)
    }
}
