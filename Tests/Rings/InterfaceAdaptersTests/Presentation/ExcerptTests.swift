import InwardCore
import Testing

@testable import InterfaceAdapters

struct ExcerptTests {
    @Test(arguments: [
        ("", ""), ("abcde", "abcde"), ("abcdef", "abcd…"), (" a \n\t b ", "a b"), ("ab  cd", "ab cd"),
        ("ab cde", "ab c…"),
        ("abcd ", "abcd"), ("abcde ", "abcde"), ("abcde f", "abcd…"), ("👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻", "👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻"),
    ])
    func excerptIsOneLineOfLimitedLength(text: String, excerpt: String) {
        #expect(text.excerpt(upTo: 5) == excerpt)
    }

    @Test(arguments: [(31, 32), (32, 32), (100, 32)]) func combiningMarksCountTowardTheLimit(
        marks: Int,
        scalars: Int
    ) {
        let text = "a" + String(repeating: "\u{301}", count: marks)
        #expect(text.excerpt(upTo: 2).unicodeScalars.count == scalars)
    }
}
